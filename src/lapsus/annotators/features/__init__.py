"""What methods are made of: words, vectors, layers, signs. Nothing here judges by itself."""
