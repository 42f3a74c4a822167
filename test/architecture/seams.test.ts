import { codeFiles, read, sourceFiles } from './repository.ts';

/**
 * Everything that is stored, sent or printed passes one of a few places where secrets are taken out of it. What each of
 * them does: test/unit/redaction/seams.test.ts. That nothing goes around them: here.
 */

const wiring = read('worker/create-activities.ts').replaceAll(/\s+/g, ' ');
const worker = read('worker/create-worker.ts').replaceAll(/\s+/g, ' ');

/** Every method of a port that writes, and what stands before it. */
const writingPorts: Readonly<Record<string, string>> = {
  'activities/ports/artifact-store.ts put': 'redactStore(stores.store, redactor)',
  'activities/ports/reply-ledger.ts put': 'redactLedger(stores.ledger, redactor)',
  'activities/ports/projection-writer.ts write':
    'redactProjection( withholdProjection(createFileProjection({ home }), cipherOf(settings)), redactor, )',
  'activities/ports/effect-ledger.ts put': 'redactEffects(stores.effects, redactor)',
  'activities/ports/thread-store.ts append': 'redactThreads(stores.threads, redactor)',
  // What agents write is an argument of a call, and each was redacted when the model's reply came.
  'activities/ports/workspaces.ts write':
    'const places = createPlaces(settings, commands, stores, redactor)',
  // Run ids and addresses only.
  'activities/ports/artifact-store.ts write': 'index: stores.index',
};

it('every port that writes stands behind a redactor', () => {
  const methods = codeFiles
    .filter((path) => path.startsWith('activities/ports/'))
    .flatMap((path) =>
      [...read(path).matchAll(/^ {2}(put|write|append|add|save|record|store)\w*\(/gm)].map(
        ([, name]) => `${path} ${name}`,
      ),
    );
  // Cure: wrap the port in worker/create-activities.ts, then name both here.
  expect(methods.toSorted()).toEqual(Object.keys(writingPorts).toSorted());
  for (const wrapped of Object.values(writingPorts)) expect(wiring).toContain(wrapped);
});

it('what comes from models and tools is redacted before it is used', () => {
  expect(wiring).toContain('redactNotifier(createNotifier(');
  expect(wiring).toContain('redactModel(');
  expect(wiring).toContain('redactTools(createTools(');
  expect(wiring).toContain('redactTool(createMcpTool(');
  expect(wiring).toContain('redactRunChanges(createRunChanges(');
  const places = read('worker/create-places.ts');
  expect(places).toContain('redactWorktrees(createGitWorktrees(');
  expect(places).toContain('redactPages(createPageFetcher(');
  expect(places).toContain('redactRunner(commands.runner, redactor)');
  expect(places).toContain("redactLines: (lines) => redactor.redactLines(lines, 'tool')");
  expect(wiring).toContain('redactMiddlewares( createMiddlewareRegistry([');
  expect(wiring).toContain(
    "const redact = (text: string): string => redactor.redactText(text, 'failure')",
  );
});

it('the worker sends nothing past the codec, and no failure past the interceptor', () => {
  expect(worker).toContain("payloadCodecs: [ createRedactingCodec(options.redactor, 'history')");
  // Last, so that it encrypts all that the others have changed.
  expect(worker).toContain('createEncryptingCodec(keys, namespace), ], ...(keys.ids.length > 0 &&');
  // Innermost, so that neither the server, nor the log, nor a trace sees a failure before it.
  expect(worker).toContain('() => redactFailuresWith(options.redactor), ], }');
});

const storeOpeners = [
  'activities/adapters/open-stores.ts',
  'activities/adapters/postgres-store/open-postgres-stores.ts',
];

/** Where something that speaks to the outside may be made. */
const makers: readonly (readonly [what: RegExp, only: readonly string[]])[] = [
  [/\bWorker\.create\(/, ['worker/create-worker.ts']],
  // The worker's own only lists runs. That of MCP servers is reached through a tool, which is redacted.
  [
    /\bnew (?:Workflow|Async\w*|Schedule)?Client\(/,
    ['activities/adapters/mcp/connection.ts', 'client/planwave-client.ts', 'worker/main.ts'],
  ],
  // Spans pass the redactor in PlacingProcessor.
  [/\bnew OTLP\w+\(/, ['worker/start-tracing.ts']],
  // The clients only read, but for threads, which they redact, and budgets, which hold no text; the worker's main starts it.
  [
    /\bopenStores\(/,
    [
      'scripts/cli-deps.ts',
      'scripts/cli-stores.ts',
      'scripts/doctor-checks.ts',
      'worker/create-activities.ts',
      'worker/main.ts',
    ],
  ],
  [/\bcreate(?:File|Postgres)ReplyLedger\(/, storeOpeners],
  // The one of the check only looks.
  [
    /\bcreate(?:File|Postgres)EffectLedger\(/,
    ['activities/adapters/file-store/check-home.ts', ...storeOpeners],
  ],
  // Those of the input check only look; an undo puts back what the user had.
  [
    /\bcreateFileWorkspaces\(/,
    [
      'activities/adapters/workspaces/undo-direct.ts',
      'worker/create-input-check.ts',
      'worker/create-places.ts',
    ],
  ],
  [/\bcreateTools\(/, ['worker/create-activities.ts', 'worker/create-input-check.ts']],
  [/\bcreateToolRegistry\(/, ['activities/tools/registry/create-registry.ts']],
  [/\bcreateFileProjection\(/, ['worker/create-activities.ts', 'scripts/cli-deps.ts']],
  // That of the workspaces keeps files of users byte for byte.
  [/\bcreate(?:File|Postgres)ArtifactStore\(/, storeOpeners],
  [/\bcreateThreadStore\(/, ['activities/adapters/open-stores.ts']],
  [/\bcreate(?:Sqlite|Postgres)ThreadStore\(/, ['activities/adapters/open-stores.ts']],
  // That of the doctor sends a test message of its own.
  [/\bcreateNotifier\(/, ['scripts/check-notify.ts', 'worker/create-activities.ts']],
  [/\bcreateAnthropicClient\(/, ['worker/create-activities.ts']],
];

it.each(makers)('%s stands only where it is redacted', (what, only) => {
  const used = sourceFiles.filter((path) =>
    new RegExp(String.raw`(?<!function )${what.source}`).test(read(path)),
  );
  // Cure: have it made there, or put a redactor before it and name the file here.
  expect(used.toSorted()).toEqual(only.toSorted());
});

it('programs are started in few places, and git in one that nothing planted can misuse', () => {
  const startsPrograms = sourceFiles.filter(
    (path) => !path.startsWith('scripts/') && /['"]node:child_process['"]/.test(read(path)),
  );
  // Cure: call runGit, or put an agent's command through CommandRunner.
  expect(startsPrograms.toSorted()).toEqual([
    'activities/adapters/git/run-git.ts',
    'activities/adapters/mcp/stdio-transport.ts',
    'activities/adapters/sandbox/command-runner.ts',
    'activities/adapters/workspaces/ripgrep.ts',
  ]);
  const callsGit = sourceFiles.filter((path) =>
    /\b(?:exec\w*|spawn\w*|runCommand)\(\s*['"`]git\b/.test(read(path)),
  );
  expect(callsGit).toEqual(['activities/adapters/git/run-git.ts']);
});

/** Prints for a main thread that is blocked, and only what that one has redacted. */
const watchdogThread = 'worker/watchdog-thread.mjs';

it('engine and worker print through the streams that are redacted, never directly', () => {
  const faults = sourceFiles
    .filter((path) =>
      /^(?:contracts|core|redaction|encryption|workflows|activities|worker)\//.test(path),
    )
    .filter((path) => /\bconsole\.|\bwriteSync\(|\bwrite\w*\(\s*[12],/.test(read(path)))
    .filter((path) => path !== watchdogThread)
    .map((path) => `${path} prints. Cure: throw, or use the logger of the SDK`);
  expect(faults).toEqual([]);
  expect(read('worker/watchdog.ts')).toContain("return redactor.redactText(line, 'output');");
  expect(read('worker/main.ts')).toContain("process.once('exit', redactOutput(stream, redactor));");
});
