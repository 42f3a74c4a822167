'use strict';
const { DefaultFailureConverter } = require('@temporalio/common');

/**
 * Puts messages and stack traces of failures into payloads, which the codec encrypts. The SDK loads it by its path, into the
 * worker and into the bundle of the workflows; both must have it. Reading needs no converter.
 */
exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
