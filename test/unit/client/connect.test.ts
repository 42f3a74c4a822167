import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadServerConfig } from '../../../client/connect.ts';

const folder = mkdtempSync(join(tmpdir(), 'planwave-connect-'));
const file = join(folder, 'temporal.toml');

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const load = (
  env: Record<string, string>,
  flags: { address?: string; namespace?: string } = {},
): { address: string; namespace: string } => {
  const { address, namespace } = loadServerConfig({
    ...flags,
    env: { TEMPORAL_CONFIG_FILE: join(folder, 'none.toml'), ...env },
  });
  return { address, namespace };
};

it('finds a local server without any setting', () => {
  const local = { address: 'localhost:7233', namespace: 'default' };
  expect(load({})).toEqual(local);
  expect(load({ TEMPORAL_ADDRESS: '', TEMPORAL_NAMESPACE: '', TEMPORAL_API_KEY: '' })).toEqual(
    local,
  );
});

it('reads the environment, and options win over it', () => {
  const env = { TEMPORAL_ADDRESS: 'a:1', TEMPORAL_NAMESPACE: 'n' };
  expect(load(env)).toEqual({ address: 'a:1', namespace: 'n' });
  expect(load(env, { address: 'b:2', namespace: 'm' })).toEqual({ address: 'b:2', namespace: 'm' });
});

it('reads a profile', () => {
  writeFileSync(file, '[profile.cloud]\naddress = "c:3"\nnamespace = "team"\n');
  expect(load({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'cloud' })).toEqual({
    address: 'c:3',
    namespace: 'team',
  });
});

it('speaks TLS when there is an API key', () => {
  const { connectionOptions } = loadServerConfig({
    env: { TEMPORAL_CONFIG_FILE: join(folder, 'none.toml'), TEMPORAL_API_KEY: 'secret-key' },
  });
  expect(connectionOptions).toMatchObject({ apiKey: 'secret-key', tls: true });
});

it('fault 45: a broken profile file is refused, without a secret in the text', () => {
  writeFileSync(file, '[profile.default]\napi_key = "secret-key"\naddress = = "x"\n');
  const loading = (): unknown => load({ TEMPORAL_CONFIG_FILE: file });
  expect(loading).toThrow(
    /configuration can't be used: .* in line 3\. Try: .*TEMPORAL_CONFIG_FILE/,
  );
  expect(loading).not.toThrow(/secret-key|\n/);
});
