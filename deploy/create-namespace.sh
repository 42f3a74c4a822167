#!/bin/sh
# Creates the namespace that runs live in, when it is not there. Safe to run at every start.
set -eu

attempts=0
until temporal operator cluster health; do
  attempts=$((attempts + 1))
  if [ "$attempts" -ge 30 ]; then
    echo "The Temporal server at $TEMPORAL_ADDRESS is not healthy." >&2
    exit 1
  fi
  sleep 2
done

# Closed runs stay in Temporal this long. Results and records are in the planwave home and stay for ever.
temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" ||
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 720h
