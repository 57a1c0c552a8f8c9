"""Image-text matchers: SCAN, POS-SCAN, BFAN, PFAN, SGRAF, VSE++."""
