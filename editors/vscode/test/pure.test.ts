import assert from "node:assert/strict";
import { test } from "node:test";
import { escaped, messagePage, panelTitle, reportPage, serverCommand, startProblem } from "../src/pure";

test("the command line of the server", () => {
  assert.deepEqual(serverCommand(["python", "-m", "outcrop"], "90s"), {
    command: "python",
    args: ["-m", "outcrop", "lsp", "--time-limit", "90s"],
  });
  assert.deepEqual(serverCommand([], "forever; rm"), { command: "outcrop", args: ["lsp", "--time-limit", "60s"] });
});

test("a report is shown only with a strict policy", () => {
  const policy = "default-src 'none'; script-src 'sha256-AAAA='";
  const page = `<html><head><meta http-equiv="Content-Security-Policy" content="${policy}"></head></html>`;
  assert.equal(reportPage(page), page);
  assert.ok(!reportPage(page.replace("'sha256-AAAA='", "'unsafe-inline'")).includes("unsafe-inline"));
  assert.ok(!reportPage("<html><script>alert(1)</script></html>").includes("alert"));
});

test("messages are escaped", () => {
  assert.equal(escaped("<a href=\"x\">&'"), "&#60;a href=&#34;x&#34;&#62;&#38;&#39;");
  assert.ok(messagePage("<script>").includes("&#60;script&#62;"));
  assert.ok(messagePage("x").includes("default-src 'none'"));
});

test("titles and problems", () => {
  assert.equal(panelTitle("file:///a/b/model.m", "violated"), "✗ model.m");
  assert.equal(panelTitle("model.m", "error"), "! model.m");
  assert.ok(startProblem("outcrop", "ENOENT").includes("outcrop[lsp]"));
});
