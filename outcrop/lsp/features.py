"""The features of the protocol, each bound to its answer."""

from __future__ import annotations

import asyncio
from typing import Any

from lsprotocol import types

from outcrop.lsp import answers, checks
from outcrop.lsp.completion import completion, signature_help
from outcrop.lsp.server import Server, code_actions, lenses, require

_LEGEND = types.SemanticTokensLegend(answers.TOKEN_KINDS, answers.TOKEN_MODIFIERS)


def make_server(limit: str) -> Server:
    """Returns a server with all features. ``limit`` is the search time of a check."""
    server = Server(limit)
    _add_texts(server)
    _add_names(server)
    _add_writing(server)
    _add_checks(server)
    return server


def _add_texts(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.publish(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        task = asyncio.get_running_loop().create_task(server.execute_saved(params.text_document.uri))
        server.tasks.add(task)
        task.add_done_callback(server.tasks.discard)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)


def _add_names(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        return server.answer(params.text_document.uri, lambda text: answers.hover(text, text.offset(params.position)))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> types.Location | None:
        uri = params.text_document.uri
        return server.answer(uri, lambda text: answers.definition(text, text.offset(params.position)))

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: types.ReferenceParams) -> list[types.Location] | None:
        declared = params.context.include_declaration
        uri = params.text_document.uri
        return server.answer(uri, lambda text: answers.references(text, text.offset(params.position), declared))

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlight(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        uri = params.text_document.uri
        return server.answer(uri, lambda text: answers.highlights(text, text.offset(params.position)))

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare_rename(params: types.PrepareRenameParams) -> types.Range | None:
        uri = params.text_document.uri
        return server.answer(uri, lambda text: answers.rename_range(text, text.offset(params.position)))

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        uri, name = params.text_document.uri, params.new_name
        return server.answer(uri, lambda text: require(answers.rename(text, text.offset(params.position), name)))

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        text = server.text(params.text_document.uri)
        # The editor's own server for a programming language has an outline already.
        return None if text.services is None or text.services.executes else answers.outline(text)

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    def folding(params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        return server.answer(params.text_document.uri, answers.folds)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _LEGEND)
    def tokens(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        return server.answer(params.text_document.uri, answers.semantic_tokens)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def hints(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        return server.answer(params.text_document.uri, lambda text: answers.inlay_hints(text, params.range))


def _add_writing(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=["."]))
    def complete(params: types.CompletionParams) -> list[types.CompletionItem] | None:
        return server.answer(params.text_document.uri, lambda text: completion(text, text.offset(params.position)))

    @server.feature(types.TEXT_DOCUMENT_SIGNATURE_HELP, types.SignatureHelpOptions(trigger_characters=["(", ","]))
    def signature(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        return server.answer(params.text_document.uri, lambda text: signature_help(text, text.offset(params.position)))

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        return server.answer(params.text_document.uri, answers.formatting)


def _add_checks(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def lens(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        return server.answer(params.text_document.uri, lambda text: lenses(server, text))

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    def action(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        return server.answer(params.text_document.uri, lambda text: code_actions(text, params.range))

    def tell(message: str) -> None:
        server.window_show_message(types.ShowMessageParams(types.MessageType.Info, message))

    # The package demands every argument that a function names, so that optional ones have no names here.
    @server.command("outcrop.check")
    async def check(uri: str, *options: Any) -> dict[str, Any]:
        part = options[0] if options else ""
        with_report = len(options) > 1 and bool(options[1])
        result = await server.check(uri, part, with_report)
        if not with_report:  # a client that asks for the report shows the result itself
            tell(result["message"])
        return result

    @server.command("outcrop.simulate")
    async def simulate(uri: str, *options: Any) -> dict[str, Any]:
        part = options[0] if options else ""
        result = await checks.simulate(server.text(uri), part, server.limit, server.seconds)
        tell(result["message"])
        return result

    @server.command("outcrop.why")
    async def why(uri: str, line: int) -> dict[str, Any]:
        result = await checks.why(server.text(uri), line, server.limit, server.seconds)
        tell(result["message"])
        return result
