"""What every process of Eris shares; imports `proto` and nothing of the actors."""
