"""Does the chain sample its posterior exactly?"""
