# Runs a command and ends it when our standard input ends: that is how it notices that its starter is gone (kill -9).
exec 3<&0
"$@" 3<&- </dev/null &
command=$!
(read -r _ <&3; kill -TERM "$command" 2>/dev/null) &
watch=$!
exec 3<&-
# The signal reaches the command too, which is in the same group; the shell stays to report how it ended.
trap : TERM INT
code=0
while kill -0 "$command" 2>/dev/null; do
  wait "$command"
  code=$?
done
kill "$watch" 2>/dev/null
exit "$code"
