// serve reads cases, one JSON object a line of stdin, and writes what run makes
// of each as a line of stdout; their order may differ. Whatever else the agent's
// code prints is dropped.
import readline from 'node:readline';

const AT_ONCE = 4;

export function serve(run) {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = () => true;
  process.stderr.write = () => true;
  for (const level of ['log', 'info', 'warn', 'error', 'debug']) console[level] = () => {};

  const waiting = [];
  let closed = false;
  let busy = 0;
  const pump = () => {
    while (busy < AT_ONCE && waiting.length > 0) {
      busy++;
      const c = JSON.parse(waiting.shift());
      run(c)
        .catch((e) => ({ id: c.id, broken: String(e?.stack ?? e) }))
        .then((answer) => {
          write(JSON.stringify(answer) + '\n');
          busy--;
          pump();
        });
    }
    if (closed && busy === 0 && waiting.length === 0) write('', () => process.exit(0));
  };
  const lines = readline.createInterface({ input: process.stdin });
  lines.on('line', (line) => { waiting.push(line); pump(); });
  lines.on('close', () => { closed = true; pump(); });
}
