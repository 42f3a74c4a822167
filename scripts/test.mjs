import { checkNode } from './bootstrap/check-node.mjs';
import { ensurePackages } from './bootstrap/ensure-packages.mjs';
import { exitCodeOf, root } from './bootstrap/hand-over.mjs';
import { runTests } from './bootstrap/run-tests.mjs';

const code = await exitCodeOf(async () => {
  checkNode();
  await ensurePackages({ root, dev: true });
  return runTests(root, process.argv.slice(2));
});
process.exit(code);
