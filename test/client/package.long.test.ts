/**
 * The client as users get it: packed, installed into an empty folder, run by the Node versions that are here through
 * a user's whole journey, and bundled for browsers.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import { startWorld, type World, worldFolder } from "#test/support/World.ts"
import { patienceMillis } from "#test/support/suite/patience.ts"

const run = promisify(execFile)
const root = join(import.meta.dirname, "../..")

/** A folder of a user, and what it installs beside the packed client. */
const users = {
  plain: { packages: ["ballast"], libraries: ["viem"] },
  /** Has Effect already, and not the one that `ballast-effect` needs. */
  effect3: { packages: ["ballast"], libraries: ["effect@3.19.0"] },
  effect4: { packages: ["ballast-effect"], libraries: ["effect"] }
}

let parent: string
const folderOf = (name: keyof typeof users) => join(parent, name)
let user: string
let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), "ballast-user-"))
  user = folderOf("plain")
  folder = await worldFolder()
  const { stdout } = await run(process.execPath, [join(root, "scripts/packClient.ts"), join(parent, "packed")])
  const packed = stdout.trim().split("\n")
  const { dependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"))
  for (const [name, { libraries, packages }] of Object.entries(users)) {
    const own = folderOf(name as keyof typeof users)
    await mkdir(own)
    await writeFile(join(own, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }))
    const versions = libraries.map((library) =>
      library.includes("@") ? library : `${library}@${dependencies[library]}`
    )
    const install = ["install", "--no-audit", "--no-fund"]
    await run("npm", [...install, ...versions], { cwd: own })
    const archives = packages.map((wanted) => packed.find((path) => new RegExp(`/${wanted}-\\d`, "u").test(path))!)
    await run("npm", [...install, ...archives], { cwd: own })
  }
  world = await startWorld(folder.dataDir, { REBALANCE_COOLDOWN_SECONDS: "1" })
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
  await rm(parent, { recursive: true, force: true, maxRetries: 5 })
})

/** Node versions by their program; another one than the tests' own is the machine's. */
const machines = ["/usr/bin/node", "/usr/local/bin/node"].filter((path) => existsSync(path))
const nodes = [process.execPath, ...machines]

const journey = `
import { connect, BallastError } from "ballast/client"
import { enroll, withdraw } from "ballast/signing"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"

const { baseUrl, apiKey, control, usdc, weth } = JSON.parse(process.argv[2])
const ballast = connect({ baseUrl, apiKey })
const owner = privateKeyToAccount(generatePrivateKey())
const { strategyId } = await ballast.strategies.create({
  name: "Halves",
  allocation: { assets: [{ assetId: usdc, weight: "50" }, { assetId: weth, weight: "50" }] },
  schedule: { type: "interval", frequency: "daily" }
})
let after = "0"
for await (const { eventId } of ballast.events.list()) after = eventId
const log = ballast.events.follow({ after })[Symbol.asyncIterator]()
const { portfolioId, smartAccounts } = await enroll(ballast, owner, { strategyId, chainIds: [8453] })
await fetch(control + "/faucet", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ accountId: smartAccounts[0].accountId, assetId: usdc, amountRaw: "10000000000" })
})
const { operationId } = await ballast.portfolios.rebalance(portfolioId)
const kinds = []
for await (const { kind } of ballast.operations.watch(operationId)) kinds.push(kind)
const rebalanced = await ballast.operations.finished(portfolioId, operationId, { waitSeconds: 60 })
const { assets } = await ballast.portfolios.positions(portfolioId)
const held = assets.find(({ assetId }) => assetId === weth)
const taken = await withdraw(ballast, owner, {
  portfolioId,
  recipientAccountId: "eip155:8453:" + owner.address,
  assets: [{ assetId: weth, amountRaw: held.balanceRaw }]
})
const withdrawn = await ballast.operations.finished(portfolioId, taken.operationId, { waitSeconds: 60 })
const unknown = await ballast.portfolios.get("pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8").catch((error) => error)
const seen = []
while (!seen.some((id) => id === taken.operationId)) seen.push((await log.next()).value.operationId)
await log.return()
console.log(JSON.stringify({
  node: process.versions.node,
  states: [rebalanced.state, withdrawn.state],
  last: kinds.at(-1),
  code: unknown instanceof BallastError ? unknown.code : String(unknown),
  followed: seen.includes(operationId)
}))
process.exit(0)
`

/** What the compiler says about programs in a folder, which are modules of its package. */
const complaintsIn = async (own: string, programs: ReadonlyArray<string>, base?: string) => {
  const files = programs.map((_, index) => `program${index}.ts`)
  await Promise.all(files.map((file, index) => writeFile(join(own, file), programs[index]!)))
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "ES2024",
    lib: ["ES2024", "DOM", "DOM.Iterable"],
    module: "NodeNext",
    moduleResolution: "NodeNext",
    types: [],
    // Types of a package that do not stand alone are complaints too, but for those of libraries.
    skipLibCheck: base !== undefined || own !== user
  }
  const config = base === undefined ? { compilerOptions, files } : { extends: base, include: [], files }
  await writeFile(join(own, "tsconfig.json"), JSON.stringify(config))
  return run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", own])
    .then(() => [])
    .catch((error: { readonly stdout: string }) => error.stdout.trim().split("\n"))
}

const written = "./Written.d.ts"

/** Compiles when each part of each endpoint and procedure is assignable to the other's. */
const sameTypes = `
import type { Brand, Schema } from "effect"
import type * as Derived from "#client/Contract.ts"
import type * as Written from "${written}"
/** Removes brands, which rows that are encoded once have in the repository; any JSON is unknown in the package. */
type Plain<T> = [Schema.Json] extends [T] ? unknown
  : T extends Brand.Brand<any> ? T extends string ? string : number
  : T extends ReadonlyArray<infer I> ? ReadonlyArray<Plain<I>> : T extends object ? { [K in keyof T]: Plain<T[K]> } : T
type Same<A, B> = [Plain<A>] extends [B] ? ([B] extends [Plain<A>] ? true : false) : false
type Parts<A, B> = {
  [K in keyof A | keyof B]: K extends keyof A & keyof B
    ? { [P in keyof A[K] | keyof B[K]]: P extends keyof A[K] & keyof B[K] ? Same<A[K][P], B[K][P]> : false }
    : false
}
type Different<T> = { [K in keyof T]: T[K] extends Record<keyof T[K], true> ? never : K }[keyof T]
// A complaint names those that differ.
export const endpoints: Array<never> = [] as Array<Different<Parts<Derived.Endpoints, Written.Endpoints>>>
export const procedures: Array<never> = [] as Array<Different<Parts<Derived.Procedures, Written.Procedures>>>
export const rest: [
  Same<Derived.ApiErrorCode, Written.ApiErrorCode>,
  Same<Derived.Frame, Written.Frame>,
  Same<Derived.TicketTarget, Written.TicketTarget>
] = [true, true, true]
`

describe("the packed clients", () => {
  it("takes a user through the journey on every Node that is here, the tests' own and the machine's", async () => {
    await writeFile(join(user, "journey.js"), journey)
    const options = {
      baseUrl: world.overview.apiBaseUrl,
      apiKey: world.key,
      control: world.controlUrl,
      usdc: world.asset(8453, "USDC").assetId,
      weth: world.asset(8453, "WETH").assetId
    }
    for (const node of nodes) {
      const { stdout } = await run(node, ["journey.js", JSON.stringify(options)], {
        cwd: user,
        timeout: patienceMillis
      })
      const { node: version, ...printed } = JSON.parse(stdout)
      assert.deepStrictEqual(
        printed,
        { states: ["completed", "completed"], last: "execution.result", code: "API_006", followed: true },
        `Node ${version}`
      )
    }
  })

  it("has no handler, no adapter and no module of Node; the plain one no Effect, in its types neither", async () => {
    for (const name of ["plain", "effect4"] as const) {
      const dist = join(folderOf(name), `node_modules/${users[name].packages[0]}/dist`)
      const files = await readdir(dist, { recursive: true })
      assert.isAbove(files.length, 40)
      assert.deepStrictEqual(
        files.filter((path) => /Live\.|^(layers|src|sandbox|migrations)/u.test(path)),
        []
      )
    }
    const dist = join(user, "node_modules/ballast/dist")
    const files = (await readdir(dist, { recursive: true })).filter((path) => /\.(?:js|ts)$/u.test(path))
    const texts = await Promise.all(files.map((path) => readFile(join(dist, path), "utf8")))
    assert.deepStrictEqual(
      texts.filter((text) => /(?:from|import)\s*\(?\s*"(?:effect|@effect)/u.test(text)),
      []
    )
    const { dependencies, peerDependencies } = JSON.parse(
      await readFile(join(user, "node_modules/ballast/package.json"), "utf8")
    )
    assert.deepStrictEqual([dependencies, Object.keys(peerDependencies)], [{}, ["viem"]])
    assert.isFalse(existsSync(join(user, "node_modules/effect")))
  })

  it("its README stands alone: it names no page that is not in the package, and its programs compile there", async () => {
    for (const [name, { packages }] of Object.entries(users)) {
      const own = folderOf(name as keyof typeof users)
      const readme = await readFile(join(own, "node_modules", packages[0]!, "README.md"), "utf8")
      assert.deepStrictEqual(
        [...readme.matchAll(/\]\((?!https?:|#)([^)]+)\)/gu)].map(([link]) => link),
        []
      )
      const programs = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gmu)].map(([, code]) => code!)
      assert.isAbove(programs.length, 0)
      // Signing needs viem, which the app with Effect 3 has not.
      const compiled = name === "effect3" ? programs.filter((code) => !code.includes("viem")) : programs
      assert.deepStrictEqual(await complaintsIn(own, compiled), [])
    }
  })

  it("the types in the package are the contract's, in both directions", async () => {
    const own = join(root, ".data/types")
    await mkdir(own, { recursive: true })
    try {
      await cp(join(user, "node_modules/ballast/dist/client/Contract.d.ts"), join(own, "Written.d.ts"))
      assert.deepStrictEqual(await complaintsIn(own, [sameTypes], "../../tsconfig.json"), [])
    } finally {
      await rm(own, { recursive: true, force: true })
    }
  })

  /** Node asks the platform alone for what an entry needs. */
  it("ballast/stream works on every Node that is here: with its own WebSocket, or with one that is given", async () => {
    const program = `
      import { iterate } from "ballast/stream"
      import { WebSocket as Given } from ${JSON.stringify(join(root, "node_modules/ws/wrapper.mjs"))}
      const own = typeof WebSocket === "undefined" ? { makeSocket: (url) => new Given(url) } : {}
      const target = { kind: "asset", assetClass: "crypto", symbol: "ETH" }
      for await (const { type } of iterate({ baseUrl: process.argv[2], ...own }, target)) { console.log(type); break }`
    await writeFile(join(user, "stream.js"), program)
    for (const node of nodes) {
      const args = ["stream.js", (world.overview as unknown as { streamBaseUrl: string }).streamBaseUrl]
      assert.strictEqual((await run(node, args, { cwd: user, timeout: patienceMillis })).stdout, "snapshot\n")
    }
  })

  /** Most kilobytes of a minified bundle, compressed. */
  const bundles = [
    ["plain", "ballast/client", 15],
    ["plain", "ballast/rpc", 10],
    ["plain", "ballast/stream", 10],
    ["plain", "ballast/signing", 60],
    ["effect3", "ballast/client", 15],
    ["effect4", "ballast-effect", 250]
  ] as const

  for (const [name, entry, limit] of bundles) {
    it(`${entry} bundles for browsers in an app (${name}) without a module of Node, within ${limit} kB`, async () => {
      const input = join(folderOf(name), "entry.js")
      await writeFile(input, `export * from ${JSON.stringify(entry)}`)
      const warnings: Array<string> = []
      const build = await rolldown({
        input,
        platform: "browser",
        onLog: (_level, { message }) => warnings.push(message)
      })
      const { output } = await build.generate({ format: "esm", minify: true })
      await build.close()
      const [chunk] = output
      assert.deepStrictEqual([...chunk.imports, ...chunk.dynamicImports], [])
      assert.deepStrictEqual(warnings, [])
      assert.isBelow(gzipSync(chunk.code).length / 1_000, limit)
    })
  }
})
