import { loadWorkflowBundle, readBundle } from '../../worker/bundle-workflows.ts';
import { workflowTypes } from '../../contracts/names.ts';
import { allFiles, matchAll, read, sourceFiles } from './repository.ts';

const exported = matchAll(read('workflows/index.ts'), /^export \{ (\w+) \} from/gm);

it('workflows/index.ts exports workflows only, one a line, and contracts/names.ts has their names', () => {
  const lines = read('workflows/index.ts').trim().split('\n');
  expect(lines).toHaveLength(exported.length);
  expect(exported.toSorted()).toEqual(Object.values(workflowTypes).toSorted());
});

it('every exported workflow has a stored history', () => {
  const folder = 'test/replay/histories/';
  const stored = allFiles
    .filter((path) => path.startsWith(folder) && path.endsWith('.json'))
    .map((path) => path.slice(folder.length));
  const faults = exported
    .filter((name) => !stored.some((file) => file.startsWith(`${name}.`)))
    .map(
      (name) =>
        `${name} has no history. Cure: temporal workflow show --output json > ${folder}${name}.<version or story>.json`,
    );
  expect(faults).toEqual([]);
});

it('every stored history belongs to a workflow that exists', () => {
  const faults = allFiles
    .filter((path) => path.startsWith('test/replay/histories/') && path.endsWith('.json'))
    .filter((path) => !exported.some((name) => path.includes(`/${name}.`)))
    .map((path) => `${path}. Cure: name it <workflow>.<version or story>.json`);
  expect(faults).toEqual([]);
});

/** Matches state between calls: a variable, or a collection that is not declared read-only. */
const moduleState =
  /^(?:export )?(?:(?:let|var) (\w+)|const (\w+)(?!\w|: Readonly(?:Set|Map)<)[^=\n]*= (?:new (?:Map|Set|WeakMap|WeakSet)\b|\[\];|\{\};))/gm;

it.each([
  ['let calls = 0;', 'calls'],
  ['export const seen = new Set<string>();', 'seen'],
  ['const byId: Map<string, number> = new Map();', 'byId'],
  ['const waiting: string[] = [];', 'waiting'],
])('%s at the top of a module is state', (line, name) => {
  expect([...line.matchAll(moduleState)].map((match) => match[1] ?? match[2])).toEqual([name]);
});

it('modules of workflows keep nothing: all workflows of a process share them', () => {
  const faults = sourceFiles
    .filter((path) => /^(?:contracts|core|workflows)\//.test(path))
    .flatMap((path) =>
      [...read(path).matchAll(moduleState)].map(
        (match) =>
          `${path} keeps ${match[1] ?? match[2]}. Cure: hand it in, or make it a ReadonlySet or ReadonlyMap`,
      ),
    );
  expect(faults).toEqual([]);
});

describe('the workflow bundle', () => {
  let text = '';
  let modules: readonly string[] = [];
  beforeAll(async () => {
    const code = readBundle(await loadWorkflowBundle());
    const [map = ''] = matchAll(code, /sourceMappingURL=data:[^,]*;base64,([\w+/=]+)/g);
    const { sources }: { sources: string[] } = JSON.parse(Buffer.from(map, 'base64').toString());
    modules = sources;
    text = code;
  });

  it('takes one byte a character', () => {
    expect(matchAll(text, /([^\0-\xFF].{0,40})/gu)).toEqual([]);
  });

  it('was read', () => {
    expect(modules.filter((path) => path.endsWith('workflows/index.ts'))).toHaveLength(1);
  });

  it('holds no package but those that workflows need', () => {
    const packages = modules
      .filter((path) => path.includes('node_modules/'))
      .map((path) => path.replace(/^.*node_modules\/((?:@[^/]+\/)?[^/]+)\/.*$/, '$1'));
    const known = [
      '@cfworker/json-schema',
      '@temporalio/common',
      '@temporalio/workflow',
      'long',
      'ms',
      'nexus-rpc',
    ];
    const faults = [...new Set(packages)]
      .filter((name) => !known.includes(name))
      .map(
        (name) =>
          `${name} is in the bundle. Cure: import only types, or move the constant that is needed to contracts/names.ts`,
      );
    expect(faults).toEqual([]);
  });

  it('holds no code of other rooms', () => {
    const own = modules.filter((path) => path.endsWith('.ts') && !path.includes('node_modules/'));
    const faults = own.filter((path) => !/\/(?:contracts|core|workflows)\/[^:]*\.ts$/.test(path));
    expect(
      faults.map((path) => `${path}. Cure: hand it in as data, or make it an activity`),
    ).toEqual([]);
  });
});
