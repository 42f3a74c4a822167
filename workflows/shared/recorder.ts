import { metricMeter } from '@temporalio/workflow';
import { createRecorder } from '../../core/metrics/create-recorder.ts';

/** Records metrics from workflow code. Silent on replay, so nothing is counted twice; no command, no event in history. */
export const recorder = createRecorder(metricMeter);
