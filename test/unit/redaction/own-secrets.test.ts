import { collectOwnSecrets, spellSecret } from '../../../redaction/own-secrets.ts';
import { planted } from '../../support/planted.ts';

const collect = (env: Record<string, string>): string[] => collectOwnSecrets(env);

it.each([
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'TEMPORAL_API_KEY',
  'AWS_SECRET_ACCESS_KEY',
  'GITHUB_TOKEN',
  'DB_PASSWORD',
  'PGPASSWORD',
  'CLIENT_SECRET_2',
  'npm_token',
])('the value of %s is a secret', (name) => {
  expect(collect({ [name]: planted.own })).toEqual([planted.own]);
});

it.each([
  ['ANTHROPIC_API_KEY', 'rehearsal'],
  ['ANTHROPIC_API_KEY', 'none'],
  ['API_KEY', 'abc123'],
  ['TLS_CLIENT_KEY', '/run/secrets/client.key'],
  ['SSH_PUBLIC_KEY', planted.own],
  ['KEYBOARD', planted.own],
  ['PLANWAVE_MODEL', planted.own],
  ['POSTGRES_PASSWORD', 'temporal'],
  ['SESSION_TOKEN', '12345678'],
  ['CACHE_TOKEN', 'https://cache.example.org/path'],
])('%s=%s is none', (name, value) => {
  expect(collect({ [name]: value })).toEqual([]);
});

it('finding T12: the password inside an address is a secret, whatever the name', () => {
  const env = { STORE: `postgresql://planwave:${planted.own}%21@db:5432/planwave` };
  expect(collect(env)).toEqual([`${planted.own}%21`, `${planted.own}!`]);
  expect(collect({ STORE: 'postgresql://postgres:temporal@db/planwave' })).toEqual([]);
});

it('each key of the key ring is a secret', () => {
  const keys = [planted.own, planted.github].map((key, at) => `k${at}:${key}`).join(',');
  expect(collect({ PLANWAVE_KEYS: keys })).toEqual([keys, planted.github, planted.own]);
});

it('the longest comes first, each once', () => {
  const env = { A_TOKEN: 'short-1234', B_TOKEN: 'much-longer-1234', C_TOKEN: 'short-1234' };
  expect(collect(env)).toEqual(['much-longer-1234', 'short-1234']);
});

it('a secret is spelled in every usual way, and in no way that is too short to tell', () => {
  const spelled = spellSecret('a b"c/d\u00e9f');
  expect(spelled).toContain('a b\\"c/d\u00e9f');
  expect(spelled).toContain('a%20b%22c%2Fd%C3%A9f');
  expect(spelled).toContain(Buffer.from('a b"c/d\u00e9f').toString('hex'));
  expect(spelled.every(({ length }) => length >= 8)).toBe(true);
  expect(() => spellSecret('lone \ud800 surrogate')).not.toThrow();
});
