"""How well Eris calls tools, measured on questions that nobody here wrote."""
