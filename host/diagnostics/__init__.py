"""How far samples may be trusted: effective sizes, agreement of chains, of numbers and of trees."""
