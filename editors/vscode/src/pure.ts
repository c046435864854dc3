/** Parts of the extension that need no editor, so that tests can run them. */

/** The answer of the server to a check. */
export interface CheckAnswer {
  verdict: string;
  kind: string;
  message: string;
  report: string | null;
}

/** The command line that starts the server. */
export function serverCommand(command: readonly string[], timeLimit: string): { command: string; args: string[] } {
  const [first, ...rest] = command.length > 0 ? command : ["outcrop"];
  const limit = /^\d+(\.\d+)?\s*(s|m|h|d|ms)?$/.test(timeLimit.trim()) ? timeLimit.trim() : "60s";
  return { command: first, args: [...rest, "lsp", "--time-limit", limit] };
}

/** Text for a text node or attribute of a page. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

const POLICY = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/;

/**
 * The page of a report for a panel. A report names the hashes of its own script and style, and loads nothing. A page
 * without such a policy is not shown.
 */
export function reportPage(html: string): string {
  const policy = POLICY.exec(html)?.[1] ?? "";
  const isStrict = policy.startsWith("default-src 'none'") && !policy.includes("unsafe") && !policy.includes("http");
  return isStrict ? html : messagePage("The report has no strict security policy, so that it is not shown here.");
}

/** A page with one message, for a check without a report. */
export function messagePage(message: string): string {
  const policy = "default-src 'none'";
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}"></head>
<body><pre>${escaped(message)}</pre></body></html>`;
}

/** Title of the panel of a model. */
export function panelTitle(path: string, verdict: string): string {
  const name = path.split(/[\\/]/).pop() ?? path;
  const signs: Record<string, string> = { holds: "✓", violated: "✗", unknown: "?" };
  return `${signs[verdict] ?? "!"} ${name}`;
}

/** The message to show when the server cannot be started. */
export function startProblem(command: string, reason: string): string {
  return `Outcrop's language server did not start ('${command}': ${reason}). ` +
    "Install it with: pip install 'outcrop[lsp]', or set outcrop.command.";
}
