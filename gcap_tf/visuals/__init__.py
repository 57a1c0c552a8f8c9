"""Drawing words and boxes; TensorBoard pictures."""
