import { checkNode, ensurePackages } from './bootstrap/ensure-packages.mjs';
import { exitCodeOf, root } from './bootstrap/hand-over.mjs';
import { runFastTests, runSlowTests, runTests } from './bootstrap/run-tests.mjs';

const code = await exitCodeOf(async () => {
  checkNode();
  await ensurePackages({ root, dev: true });
  const [first, ...rest] = process.argv.slice(2);
  if (first === '--fast') return runFastTests(root);
  return first === '--slow' ? runSlowTests(root, rest) : runTests(root, process.argv.slice(2));
});
process.exit(code);
