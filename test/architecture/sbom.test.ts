import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import { read, root } from './repository.ts';

const run = promisify(execFile);

const Sbom = z.object({
  bomFormat: z.literal('CycloneDX'),
  components: z.array(
    z.object({ name: z.string(), version: z.string(), hashes: z.array(z.unknown()).min(1) }),
  ),
});

it('finding T10: `npm run sbom` lists every package of `dependencies` with its version and a hash', async () => {
  const { stdout } = await run('npm', ['run', '--silent', 'sbom'], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
  const { components } = Sbom.parse(JSON.parse(stdout));
  const { dependencies } = z
    .object({ dependencies: z.record(z.string(), z.string()) })
    .parse(JSON.parse(read('package.json')));
  const listed = components.map(({ name, version }) => `${name}@${version}`);
  const wanted = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`);
  expect(wanted.filter((one) => !listed.includes(one))).toEqual([]);
});
