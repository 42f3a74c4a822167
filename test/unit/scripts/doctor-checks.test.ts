import { createDoctorChecks } from '../../../scripts/doctor/doctor-checks.ts';
import { readSettings } from '../../../scripts/settings.ts';

it('doctor knows every tool that the shipped agents name', async () => {
  const checks = createDoctorChecks(readSettings({}));
  const finding = await checks.find(({ name }) => name === 'Agents')?.run();
  expect(finding).toEqual({ ok: true, detail: expect.stringContaining('engineer') });
});
