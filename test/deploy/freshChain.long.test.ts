/**
 * The rehearsal of a deployment, as operators do it: a chain that has everything but Ballast, the program as a process
 * of its own, killed in the middle, and then the service on that chain, up to a first rebalance.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { encodeFunctionData, erc20Abi, type Hex, parseEther } from "viem"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { operate } from "#sandbox/chain/operate.ts"
import {
  deployer,
  deployerKey,
  freshChain,
  type FreshChain,
  ownKeys,
  sentBy,
  writtenFiles
} from "#test/support/chains/freshChain.ts"
import { atRest, enroll, finishedOperation, newOwner, rebalance } from "#test/support/journey.ts"
import { patienceMillis } from "#test/support/suite/patience.ts"
import { startWorld, worldFolder } from "#test/support/World.ts"

const program = fileURLToPath(new URL("../../src/Deploy.ts", import.meta.url))

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

const argumentsOf = (command: string, fresh: FreshChain, more: ReadonlyArray<string>) => {
  const { files, keys } = writtenFiles(fresh, ownKeys)
  return [program, command, "--chain", `${fresh.file.chainId}`, "--files", files, "--keys", keys, ...more]
}

const environmentOf = ({ file, rpcUrl }: FreshChain) => {
  const { HOME = "", PATH = "" } = process.env
  return { HOME, PATH, [`RPC_URL_${file.chainId}`]: rpcUrl }
}

const deploy = (command: string, fresh: FreshChain, more: ReadonlyArray<string> = []) =>
  Effect.promise(
    () =>
      new Promise<Ended>((resolve) =>
        execFile(
          process.execPath,
          argumentsOf(command, fresh, more),
          { cwd: fresh.folder, env: environmentOf(fresh), timeout: patienceMillis, maxBuffer: 2 ** 22 },
          (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err })
        )
      )
  )

/** Starts `apply`, and kills it with -9 as soon as the deployer has sent that many transactions. */
const killedAfter = (fresh: FreshChain, transactions: number, more: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const child: ChildProcess = spawn(process.execPath, argumentsOf("apply", fresh, more), {
      cwd: fresh.folder,
      env: environmentOf(fresh),
      stdio: "ignore"
    })
    const ended = once(child, "exit")
    while ((yield* sentBy(fresh, deployer)) < transactions) {
      if (child.exitCode !== null) assert.fail(`apply ended with ${child.exitCode} before it was killed`)
      yield* Effect.sleep(5)
    }
    child.kill("SIGKILL")
    const [, signal] = yield* Effect.promise(() => ended)
    assert.strictEqual(signal, "SIGKILL")
  })

describe("a deployment on a fresh chain", () => {
  it.live("is planned, killed and resumed, read back, and carries a first rebalance", () =>
    Effect.gen(function* () {
      const fresh = yield* freshChain()
      const { keyFile } = writtenFiles(fresh, ownKeys)
      const keyed = ["--key-file", keyFile]

      const planned = yield* deploy("plan", fresh)
      assert.strictEqual(planned.code, 0, planned.err)
      assert.include(planned.out, "Nothing was sent.")
      assert.match(planned.out, /About [0-9,]+ gas in all: [0-9.]+ ETH at [0-9.]+ gwei/u)
      assert.strictEqual(yield* sentBy(fresh, deployer), 0)
      const steps = [...planned.out.matchAll(/^ *[0-9]+\. .*; by /gmu)].length
      assert.isAbove(steps, 15)

      const early = yield* deploy("verify", fresh)
      assert.strictEqual(early.code, 1)
      assert.include(early.err, "not done: deploy TradeGuard")

      for (const after of [1, 5, 9]) {
        yield* killedAfter(fresh, after, keyed)
        assert.isBelow(yield* sentBy(fresh, deployer), steps)
      }
      const applied = yield* deploy("apply", fresh, keyed)
      assert.strictEqual(applied.code, 0, applied.err)
      assert.strictEqual(yield* sentBy(fresh, deployer), steps)

      const verified = yield* deploy("verify", fresh)
      assert.strictEqual(verified.code, 0, verified.err)
      assert.include(verified.out, "the guard lists nothing else. It is sealed.")
      const again = yield* deploy("apply", fresh, keyed)
      assert.strictEqual(again.code, 0, again.err)
      assert.include(again.out, "Nothing is to be sent")
      assert.strictEqual(yield* sentBy(fresh, deployer), steps)
      for (const { err, out } of [planned, applied, verified, again]) assert.notInclude(out + err, deployerKey.slice(2))

      yield* firstRebalance(fresh, verified.out)
    })
  )

  it.live("is written as bundles for a Safe, whose calls are the plan's, and sends nothing", () =>
    Effect.gen(function* () {
      const fresh = yield* freshChain()
      writtenFiles(fresh, ownKeys)
      const written = yield* deploy("apply", fresh, ["--safe", deployer, "--out", fresh.folder])
      assert.strictEqual(written.code, 0, written.err)
      assert.strictEqual(yield* sentBy(fresh, deployer), 0)
      const names = [...written.out.matchAll(/safe-8453-[0-9]+\.json/gu)].map(([name]) => name)
      assert.isAbove(names.length, 0)
      const { client } = fresh
      yield* Effect.promise(() => client.impersonateAccount({ address: deployer }))
      for (const name of names) {
        const { transactions } = JSON.parse(readFileSync(join(fresh.folder, name), "utf8")) as {
          readonly transactions: ReadonlyArray<{ readonly to: Hex; readonly data: Hex; readonly value: string }>
        }
        for (const { data, to, value } of transactions) {
          assert.strictEqual(value, "0")
          yield* Effect.promise(async () => {
            const hash = await client.sendTransaction({ account: deployer, to, data, chain: null })
            assert.strictEqual((await client.waitForTransactionReceipt({ hash })).status, "success")
          })
        }
      }
      const verified = yield* deploy("verify", fresh)
      assert.strictEqual(verified.code, 0, verified.err)
      const after = yield* deploy("apply", fresh, ["--safe", deployer, "--out", fresh.folder])
      assert.include(after.out, "Nothing is to be sent")
    })
  )

  it.live("needs a key that its owner alone may read, and that is the deployer's", () =>
    Effect.gen(function* () {
      const fresh = yield* freshChain()
      const { keyFile } = writtenFiles(fresh, ownKeys)
      chmodSync(keyFile, 0o644)
      const open = yield* deploy("apply", fresh, ["--key-file", keyFile])
      assert.strictEqual(open.code, 1)
      assert.include(open.err, "may be read by others than its owner")
      const other = join(fresh.folder, "other.key")
      const otherKey = generatePrivateKey()
      writeFileSync(other, otherKey, { mode: 0o600 })
      yield* Effect.promise(() =>
        fresh.client.setBalance({ address: privateKeyToAddress(otherKey), value: parseEther("1") })
      )
      const strange = yield* deploy("apply", fresh, ["--key-file", other])
      // Anybody may deploy; what only the deployer may call is left, and nothing of it is sent.
      assert.strictEqual(strange.code, 0, strange.err)
      assert.include(strange.out, `Left for ${deployer}`)
      assert.strictEqual(yield* sentBy(fresh, privateKeyToAddress(otherKey)), 4)
      assert.strictEqual(yield* sentBy(fresh, deployer), 0)
    })
  )
})

/** The second command: the service, with what `verify` printed. A sandbox gives it prices. */
const firstRebalance = Effect.fnUntraced(function* (fresh: FreshChain, printed: string) {
  const { chainId } = fresh.file
  const relayerKey = generatePrivateKey()
  yield* Effect.promise(() =>
    fresh.client.setBalance({ address: privateKeyToAddress(relayerKey), value: parseEther("100") })
  )
  // A chain without traffic: its base fee falls from anvil's first one to what the service pays.
  yield* Effect.promise(() => fresh.client.mine({ blocks: 100, interval: 0 }))
  const settings = Object.fromEntries(
    [...printed.matchAll(/((?:TRADE_GUARD|ROUTED_SWAP)_[0-9]+)=(0x[0-9a-fA-F]{40})/gu)].map(([, name, value]) => [
      name!,
      value!
    ])
  )
  assert.sameMembers(Object.keys(settings), [`TRADE_GUARD_${chainId}`, `ROUTED_SWAP_${chainId}`])
  const place = yield* Effect.promise(() => worldFolder())
  const world = yield* Effect.acquireRelease(
    Effect.promise(() =>
      startWorld(place.dataDir, { [`RPC_URL_${chainId}`]: fresh.rpcUrl, RELAYER_PRIVATE_KEY: relayerKey, ...settings })
    ),
    (started) => Effect.promise(() => started.stop().then(() => place.remove()))
  )
  const [usdc, weth] = ["USDC", "WETH"].map((symbol) => world.asset(chainId, symbol).assetId)
  const strategy = {
    name: "Half ether",
    allocation: { assets: [usdc, weth].map((assetId) => ({ assetId, weight: "50" })) },
    schedule: { type: "interval", frequency: "daily" }
  }
  const { strategyId } = (yield* Effect.promise(() => world.api("POST", "/v2/strategies", strategy))).body.data
  const portfolio = yield* Effect.promise(() => enroll(world, { strategyId, owner: newOwner() }, [chainId]))
  const account = portfolio.accounts[0]!.split(":")[2] as Hex
  yield* Effect.promise(() => atRest(world, portfolio.portfolioId))
  yield* Effect.promise(() => issued(fresh, account))
  const operationId = yield* Effect.promise(() => rebalance(world, portfolio.portfolioId))
  const operation = yield* Effect.promise(() => finishedOperation(world, portfolio.portfolioId, operationId))
  assert.strictEqual(operation.state, "completed", JSON.stringify(operation))
  const held = yield* Effect.promise(() =>
    fresh.client.readContract({
      address: fresh.chain.weth.address,
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [account]
    })
  )
  // Half of 10,000 dollars at 2,500 a piece.
  assert.closeTo(Number(held) / 1e18, 2, 0.02, JSON.stringify(operation))
})

/** 10,000 USDC for an account of the fresh chain, by the sandbox's treasury there. */
const issued = ({ at, chain, client, contracts }: FreshChain, account: Hex) =>
  Effect.runPromise(
    operate(client, {
      what: "issue USDC",
      to: at.treasury,
      data: encodeFunctionData({
        abi: contracts.own("Treasury").abi,
        functionName: "issue",
        args: [chain.usdc.address, account, 10_000_000_000n]
      })
    })
  )
