"""Ranking, CCR/CCS, cross entropy, distillation, box supervision and more."""
