import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createFileProjection } from '../../../activities/adapters/file-projection.ts';
import { treePaths } from '../../../activities/projection/paths.ts';
import { createFolder } from './harness.ts';

it('FP2: whoever reads while a file is replaced sees the old text or the new one, whole', async () => {
  const home = await createFolder();
  const writer = createFileProjection({ home });
  const texts = ['a', 'b'].map((letter) => letter.repeat(2_000_000));
  const path = join(home, writer.rootOf('my-run'), treePaths.pool);
  await writer.write('my-run', treePaths.pool, texts[0] ?? '');
  const seen = new Set<string>();
  const writing = { isOver: false };
  const reading = (async () => {
    while (!writing.isOver) seen.add(await readFile(path, 'utf8'));
  })();
  for (let round = 1; round <= 20; round += 1) {
    await writer.write('my-run', treePaths.pool, texts[round % 2] ?? '');
  }
  writing.isOver = true;
  await reading;
  expect([...seen].every((text) => texts.includes(text))).toBe(true);
  expect(seen.size).toBe(2);
});

it('asks when all is written but for the name, and a refusal leaves the old file and nothing else', async () => {
  const home = await createFolder();
  const writer = createFileProjection({ home });
  const path = join(home, writer.rootOf('my-run'), treePaths.pool);
  await writer.write('my-run', treePaths.pool, 'old');
  const refusal = new Error('somebody else may have the work');
  let asked: readonly string[] = [];
  const mayStill = async (): Promise<void> => {
    asked = await readdir(dirname(path));
    throw refusal;
  };
  await expect(writer.write('my-run', treePaths.pool, 'late', { mayStill })).rejects.toBe(refusal);
  expect(asked).toHaveLength(2);
  expect(await readFile(path, 'utf8')).toBe('old');
  expect(await readdir(dirname(path))).toEqual(['pool.jsonl']);
});
