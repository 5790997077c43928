"""Kinds of trees: what inferences of mutation trees and of cell trees do differently."""
