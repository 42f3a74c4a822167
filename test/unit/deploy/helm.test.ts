import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

/** Programs, each with the argument that only asks whether it is there. */
const programs = [
  ['helm', 'version'],
  ['kubernetes-validate', '--version'],
] as const;
const missing = programs
  .filter(([name, asks]) => spawnSync(name, [asks]).error !== undefined)
  .map(([name]) => name);
if (missing.length > 0) {
  console.warn(
    `The Helm chart is not tested: ${missing.join(' and ')} not on PATH. Try: go install helm.sh/helm/v3/cmd/helm@v3.22.0, and ` +
      'pip install kubernetes-validate',
  );
}

const folder = mkdtempSync(join(tmpdir(), 'planwave-helm-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const Named = z.looseObject({ kind: z.string() });

/** Renders the chart, and has each object checked against the schemas of Kubernetes. */
function render(name: string, ...sets: readonly string[]) {
  const args = ['template', 'blue', 'deploy/helm/planwave-worker', '--namespace', 'plans'];
  const rendered = spawnSync('helm', [...args, ...sets.flatMap((one) => ['--set', one])], {
    encoding: 'utf8',
  });
  expect(rendered.stderr).toBe('');
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, rendered.stdout);
  const checked = spawnSync('kubernetes-validate', ['--strict', file], { encoding: 'utf8' });
  expect([checked.status, checked.stdout + checked.stderr]).toEqual([0, expect.anything()]);
  return parseAllDocuments(rendered.stdout).map((document) => Named.parse(document.toJS()));
}

const Pod = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({
        automountServiceAccountToken: z.boolean(),
        terminationGracePeriodSeconds: z.number(),
        securityContext: z.looseObject({ runAsNonRoot: z.boolean() }),
        containers: z.array(
          z.looseObject({
            securityContext: z.looseObject({}),
            env: z.array(z.object({ name: z.string(), value: z.string() })),
          }),
        ),
      }),
    }),
  }),
});

(missing.length > 0 ? describe.skip : describe)('the Helm chart of workers', () => {
  it('renders objects that Kubernetes accepts, with no right that workers do not need', () => {
    const objects = render('default');
    expect(objects.map(({ kind }) => kind).toSorted()).toEqual([
      'Deployment',
      'HorizontalPodAutoscaler',
      'NetworkPolicy',
      'PodDisruptionBudget',
    ]);
    const { spec } = Pod.parse(objects.find(({ kind }) => kind === 'Deployment')).spec.template;
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      // Longer than the worker's own grace of 100 s.
      terminationGracePeriodSeconds: 130,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(spec.containers[0]?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('names a version, a bucket and a claim when they are set, and leaves out what is off', () => {
    const objects = render(
      'set',
      'autoscaling.enabled=false',
      'networkPolicy.enabled=false',
      'version.deploymentName=planwave',
      'version.buildId=0.1.0',
      'env.PLANWAVE_ARTIFACTS_URL=s3://planwave/artifacts',
      'home.existingClaim=shared',
      'metrics.enabled=false',
    );
    expect(objects.map(({ kind }) => kind)).toEqual(['PodDisruptionBudget', 'Deployment']);
    const [container] = Pod.parse(objects[1]).spec.template.spec.containers;
    const names = container?.env.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['TEMPORAL_WORKER_BUILD_ID', 'PLANWAVE_ARTIFACTS_URL']),
    );
    expect(names).not.toContain('PLANWAVE_METRICS_ADDRESS');
  });
});
