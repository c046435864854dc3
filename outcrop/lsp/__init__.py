"""The language server: diagnostics, names, layout and checks of models for editors.

It knows languages through their services (outcrop/lang/editing.py) alone. Needs the packages of ``outcrop[lsp]``.
"""
