"""The programs that the library is compared with, restated for timing."""
