"""Variants of sequenced samples: from aligned reads to a VCF, by LoFreq's model."""
