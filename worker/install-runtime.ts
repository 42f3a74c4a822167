import { makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { MetricsExporterConfig } from '@temporalio/worker';
import { createRecorder } from '../core/metrics/create-recorder.ts';
import type { Recorder } from '../core/metrics/create-recorder.ts';
import { allMetrics } from '../core/metrics/metrics.ts';
import { createLogger } from './create-logger.ts';
import { BadSettings } from './worker-settings.ts';
import type { WorkerProcessSettings } from './worker-settings.ts';

/**
 * Sets up the parts that exist once per process: the log, and the Prometheus endpoint when an address for it is set.
 *
 * @returns the recorder of metrics; without an endpoint it does nothing.
 * @throws {BadSettings} when another process listens on the address.
 */
export function installRuntime({
  metricsAddress,
  log,
}: Pick<WorkerProcessSettings, 'metricsAddress' | 'log'>): Recorder {
  try {
    const runtime = Runtime.install({
      logger: createLogger(log),
      shutdownSignals: [],
      telemetryOptions: {
        // Otherwise the native part of the SDK prints lines in a form of its own.
        logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN' }) },
        ...(metricsAddress !== undefined && { metrics: exportTo(metricsAddress) }),
      },
    });
    return createRecorder(runtime.metricMeter);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (metricsAddress === undefined || !reason.includes('prometheus')) throw error;
    throw new BadSettings(
      `PLANWAVE_METRICS_ADDRESS can't be used: ${reason}. Try: another port, one for each worker of this machine`,
      { cause: error },
    );
  }
}

function exportTo(bindAddress: string): MetricsExporterConfig {
  const buckets = allMetrics.flatMap((metric): [string, number[]][] =>
    metric.type === 'histogram' ? [[metric.name, [...metric.buckets]]] : [],
  );
  return {
    attachServiceName: false,
    prometheus: {
      bindAddress,
      useSecondsForDurations: true,
      histogramBucketOverrides: Object.fromEntries(buckets),
    },
  };
}
