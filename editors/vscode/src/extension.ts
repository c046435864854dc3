import { readFile } from "node:fs/promises";
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions, TransportKind } from "vscode-languageclient/node";
import { CheckAnswer, messagePage, panelTitle, reportPage, serverCommand, startProblem } from "./pure";

const LANGUAGES = ["murphi", "dve", "promela", "python"];

let client: LanguageClient | undefined;
const panels = new Map<string, vscode.WebviewPanel>();

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("outcrop.checkModel", () => runOnEditor("outcrop.check")),
    vscode.commands.registerCommand("outcrop.simulateModel", () => runOnEditor("outcrop.simulate")),
    vscode.commands.registerCommand("outcrop.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("outcrop")) {
        void restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function restart(): Promise<void> {
  const old = client;
  client = undefined;
  await old?.stop().catch(() => undefined);
  await start();
}

function serverSettings(): ReturnType<typeof serverCommand> {
  const settings = vscode.workspace.getConfiguration("outcrop");
  return serverCommand(settings.get<string[]>("command", ["outcrop"]), settings.get<string>("timeLimit", "60s"));
}

async function start(): Promise<void> {
  const command = serverSettings();
  const server: ServerOptions = { ...command, transport: TransportKind.stdio };
  const options: LanguageClientOptions = {
    documentSelector: LANGUAGES.flatMap((language) => [
      { scheme: "file", language },
      { scheme: "untitled", language },
    ]),
    middleware: { executeCommand: runCommand },
  };
  const made = new LanguageClient("outcrop", "Outcrop", server, options);
  client = made;
  try {
    await made.start();
  } catch (error) {
    void vscode.window.showErrorMessage(startProblem(command.command, String(error)));
  }
}

type Next = (command: string, args: unknown[]) => vscode.ProviderResult<unknown>;

/** Runs a command of the server, as a lens, a code action or the palette asks for it. */
async function runCommand(command: string, args: unknown[], next: Next): Promise<unknown> {
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showWarningMessage("A check compiles and runs the model. Trust this workspace first.");
    return undefined;
  }
  const uri = String(args[0]);
  const where = { location: vscode.ProgressLocation.Window, title: `Outcrop: ${command.replace("outcrop.", "")}` };
  return vscode.window.withProgress(where, async () => {
    if (command !== "outcrop.check") {
      return next(command, args);
    }
    const answer = (await next(command, [uri, args[1] ?? "", true])) as CheckAnswer | undefined;
    if (answer) {
      await show(uri, answer);
    }
    return answer;
  });
}

async function runOnEditor(command: string): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (!client?.isRunning()) {
    void vscode.window.showErrorMessage(startProblem(serverSettings().command, "see the output of Outcrop"));
  } else if (document && LANGUAGES.includes(document.languageId)) {
    await vscode.commands.executeCommand(command, document.uri.toString(), "");
  } else {
    void vscode.window.showInformationMessage("Open a model first: Murphi, DVE, Promela or Python.");
  }
}

/** Shows the report of a check, with its trace, in the panel of the model. */
async function show(uri: string, answer: CheckAnswer): Promise<void> {
  const html = answer.report ? reportPage(await readFile(answer.report, "utf-8")) : messagePage(answer.message);
  let panel = panels.get(uri);
  if (!panel) {
    const column = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    // The report's own policy permits its one script and nothing else; no local file can be loaded.
    const options = { enableScripts: true, localResourceRoots: [], enableCommandUris: false };
    panel = vscode.window.createWebviewPanel("outcrop.report", "Outcrop", column, options);
    panels.set(uri, panel);
    panel.onDidDispose(() => panels.delete(uri));
  }
  panel.title = panelTitle(uri, answer.verdict);
  panel.webview.html = html;
  vscode.window.setStatusBarMessage(`Outcrop: ${answer.message}`, 10_000);
}
