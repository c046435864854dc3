import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { loadWASM, OnigScanner, OnigString } from "vscode-oniguruma";
import { IGrammar, parseRawGrammar, Registry, INITIAL } from "vscode-textmate";

const ROOT = process.cwd();
const engine = loadWASM(readFileSync(join(dirname(require.resolve("vscode-oniguruma")), "onig.wasm")).buffer).then(() => ({
  createOnigScanner: (patterns: string[]) => new OnigScanner(patterns),
  createOnigString: (text: string) => new OnigString(text),
}));
const registry = new Registry({
  onigLib: engine,
  loadGrammar: async (scope) => {
    const path = join(ROOT, "syntaxes", `${scope.replace("source.", "")}.tmLanguage.json`);
    return parseRawGrammar(readFileSync(path, "utf-8"), path);
  },
});

/** The scope of each piece of a text, without the language at its end. */
async function scopes(language: string, text: string): Promise<Map<string, string>> {
  const grammar = (await registry.loadGrammar(`source.${language}`)) as IGrammar;
  const found = new Map<string, string>();
  let state = INITIAL;
  for (const line of text.split("\n")) {
    const result = grammar.tokenizeLine(line, state);
    for (const token of result.tokens) {
      const piece = line.slice(token.startIndex, token.endIndex).trim();
      const scope = token.scopes[token.scopes.length - 1];
      if (piece && !found.has(piece)) {
        found.set(piece, scope.replace(`.${language}`, ""));
      }
    }
    state = result.ruleStack;
  }
  return found;
}

test("Murphi", async () => {
  const found = await scopes("murphi", 'RULE "a rule" -- remark\n x.f := 0x1F & isundefined(y) ==> /* two\nlines */ ruleset p: boolean do endruleset true');
  assert.equal(found.get("RULE"), "keyword.control");
  assert.equal(found.get("a rule"), "string.quoted.double");
  assert.equal(found.get("-- remark"), "comment.line");
  assert.equal(found.get("0x1F"), "constant.numeric");
  assert.equal(found.get("isundefined"), "support.function");
  assert.equal(found.get("==>"), "keyword.operator");
  assert.equal(found.get("lines"), "comment.block");
  assert.equal(found.get("boolean"), "storage.type");
  assert.equal(found.get("endruleset"), "keyword.control");
  assert.equal(found.get("true"), "constant.language");
  assert.equal(found.get("x.f"), "source");
});

test("DVE", async () => {
  const found = await scopes("dve", "process P { byte x; // remark\n trans a -> b { guard x == 1 and Q.c; effect x = 2; }; }");
  assert.equal(found.get("process"), "keyword.control");
  assert.equal(found.get("byte"), "storage.type");
  assert.equal(found.get("// remark"), "comment.line");
  assert.equal(found.get("and"), "keyword.control");
  assert.equal(found.get("->"), "keyword.operator");
});

test("Promela", async () => {
  const found = await scopes("promela", "#define N 2\nactive proctype P() { do :: len(q) > 0 -> goto end od } mtype _pid");
  assert.equal(found.get("#define"), "meta.preprocessor");
  assert.equal(found.get("proctype"), "keyword.control");
  assert.equal(found.get("P"), "entity.name.function");
  assert.equal(found.get("len"), "support.function");
  assert.equal(found.get("::"), "keyword.operator");
  assert.equal(found.get("mtype"), "storage.type");
  assert.equal(found.get("_pid"), "constant.language");
});

test("the bundle loads in a stand-in for the editor", async () => {
  const vscode = new Proxy({}, { get: (_, name) => (name === "__esModule" ? false : class {}) });
  const Module = require("node:module");
  const load = Module._load;
  Module._load = (request: string, ...rest: unknown[]) => (request === "vscode" ? vscode : load(request, ...rest));
  try {
    const extension = require(join(ROOT, "out", "extension.js"));
    assert.equal(typeof extension.activate, "function");
    assert.equal(typeof extension.deactivate, "function");
  } finally {
    Module._load = load;
  }
});
