"""The server for agents: tools over the Model Context Protocol, and the skill that explains them."""
