/** `npm run bench -- <name>`: runs one benchmark. What each measures is in docs/benchmarks.md. */

const benchmarks: Readonly<Record<string, () => Promise<{ readonly run: () => Promise<void> }>>> = {
  assets: () => import("#bench/assets.ts"),
  batching: () => import("#bench/batching.ts"),
  chain: () => import("#bench/chain.ts"),
  engine: () => import("#bench/engine.ts"),
  events: () => import("#bench/events.ts"),
  http: () => import("#bench/http.ts"),
  lists: () => import("#bench/lists.ts"),
  monitors: () => import("#bench/monitors.ts"),
  operations: () => import("#bench/operations.ts"),
  rpc: () => import("#bench/rpc.ts"),
  solana: () => import("#bench/solana.ts"),
  stream: () => import("#bench/stream.ts"),
  planner: () => import("#bench/planner.ts"),
  policies: () => import("#bench/policies.ts")
}

const name = process.argv[2] ?? ""
const load = Object.hasOwn(benchmarks, name) ? benchmarks[name] : undefined

if (load === undefined) {
  console.error(`Usage: npm run bench -- <name>, where <name> is one of: ${Object.keys(benchmarks).join(", ")}`)
  process.exitCode = 1
} else {
  await (await load()).run()
}
