"""The trainers of the methods, and the parts that they share; they import torch."""
