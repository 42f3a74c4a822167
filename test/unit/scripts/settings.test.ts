import { resolve } from 'node:path';
import { serverArguments } from '../../../scripts/dev-server/server-arguments.ts';
import { namespaceOf } from '../../../scripts/dev-server/temporal-probe.ts';
import {
  partEnvironment,
  readSettings,
  temporalAddressOf,
} from '../../../scripts/parts/settings.ts';
import { makeFolder } from './fake-executables.ts';

/** An environment without the user's own Temporal configuration file. */
const bare = (): NodeJS.ProcessEnv => ({ HOME: makeFolder(), XDG_CONFIG_HOME: makeFolder() });

it('has the defaults of the documentation', () => {
  const settings = readSettings(bare());
  expect(settings).toMatchObject({
    home: resolve('.planning'),
    temporalPort: 7233,
    uiPort: 8233,
    webUi: true,
    needsRehearsal: true,
  });
  expect(temporalAddressOf(settings)).toBe('127.0.0.1:7233');
});

it('puts the Web UI 1000 above another Temporal port', () => {
  expect(readSettings({ ...bare(), PLANWAVE_TEMPORAL_PORT: '7333' }).uiPort).toBe(8333);
  expect(readSettings({ ...bare(), PLANWAVE_TEMPORAL_PORT: '65000' }).uiPort).toBe(64_000);
});

it.each(['0', '70000', 'http', '1.5'])('refuses %s as a port and says what is one', (port) => {
  expect(() => readSettings({ ...bare(), PLANWAVE_UI_PORT: port })).toThrow(
    `PLANWAVE_UI_PORT=${port} is not a port. Try a number from 1 to 65535.`,
  );
});

it('takes the address of the environment', () => {
  const settings = readSettings({ ...bare(), TEMPORAL_ADDRESS: 'temporal:7233' });
  expect(temporalAddressOf(settings)).toBe('temporal:7233');
});

it('an empty variable is not set', () => {
  const names = ['PLANWAVE_HOME', 'PLANWAVE_TEMPORAL_PORT', 'TEMPORAL_ADDRESS', 'TEMPORAL_PROFILE'];
  const empty = Object.fromEntries(names.map((name) => [name, '']));
  const env = bare();
  expect(readSettings({ ...env, ...empty })).toEqual(readSettings(env));
  expect(namespaceOf({ ...env, TEMPORAL_NAMESPACE: '' })).toBe('default');
});

it.each(['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL'])('needs no rehearsal with %s', (name) => {
  expect(readSettings({ ...bare(), [name]: 'x' }).needsRehearsal).toBe(false);
});

it('tells a part the home as an absolute path and the address', () => {
  const settings = readSettings({ ...bare(), PLANWAVE_HOME: 'here' });
  expect(partEnvironment(settings, 'a:1', { OTHER: 'kept' })).toEqual({
    OTHER: 'kept',
    PLANWAVE_HOME: resolve('here'),
    TEMPORAL_ADDRESS: 'a:1',
  });
});

it('gives an older server the setting that it lacks', () => {
  const settings = readSettings(bare());
  const setting = '--dynamic-config-value=system.enableActivityEagerExecution=true';
  const argumentsOf = (version: string): string[] =>
    serverArguments({ path: 'temporal', version }, settings);
  expect(argumentsOf('1.5.1')).toContain(setting);
  expect(argumentsOf('1.9.1')).not.toContain(setting);
  expect(argumentsOf('1.9.1')).toContain('--search-attribute=PlanwavePhase=Keyword');
});
