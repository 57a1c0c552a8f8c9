"""Caption scores that Java programs compute (METEOR, SPICE), and the PTB tokeniser."""
