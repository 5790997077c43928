"""Calibration: do probabilities from samples mean what they say?"""
