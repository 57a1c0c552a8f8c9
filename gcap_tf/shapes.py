"""Letters of dimensions in docstrings and shape comments.

I  pictures in a batch          R  regions of a picture
B  sequences (captions), B = I * captions per picture; picture-major
C  captions scored against I pictures
T  words (tokens) of a caption  V  vocabulary
D  region feature               G  global feature
E  word embedding               H  hidden state of a recurrent layer
A  attention space              J  joint space of a matcher
K  attention branches           N  beams
"""
