/** Deployments on a real chain: what is planned, refused, sent, sent again and read back. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { encodeFunctionData, http, parseAbi } from "viem"
import { applyDeployment, stepsOf, stepsOfOthers } from "#layers/evm/deployment/applyDeployment.ts"
import { ChainId } from "#domain/values/Caip.ts"
import type { ChainFile, GuardKeys } from "#layers/evm/deployment/ChainFile.ts"
import { findUnlisted } from "#layers/evm/deployment/findUnlisted.ts"
import { keyedSender } from "#layers/evm/deployment/keyedSender.ts"
import { planDeployment, requireReady } from "#layers/evm/deployment/planDeployment.ts"
import {
  deployer,
  deployerKey,
  freshChain,
  type FreshChain,
  ownKeys,
  reader,
  sentBy
} from "#test/support/chains/freshChain.ts"

const views = parseAbi([
  "function administrator() view returns (address)",
  "function state() view returns (address, uint64, bool, bool)",
  "struct VenueEntry { address venue; address spender; uint8 kind; uint16 maxLossBps; uint64 maxUsd; }",
  "function registerVenue(VenueEntry entry)",
  "function tokens(address) view returns (address feed, uint24, uint16, uint8 bandBps, uint8, uint8, uint8, bool, bool, uint8 listing)"
])

const planOf = (
  fresh: FreshChain,
  { file = fresh.file, keys = ownKeys }: { readonly file?: ChainFile; readonly keys?: GuardKeys } = {}
) => planDeployment({ file, keys, compiled: fresh.contracts.own, client: reader(fresh) })

const senderOf = (fresh: FreshChain) => keyedSender(Redacted.make(deployerKey), reader(fresh), http(fresh.rpcUrl))

const applied = Effect.fnUntraced(function* (
  fresh: FreshChain,
  options: { readonly file?: ChainFile; readonly keys?: GuardKeys } = {}
) {
  const sender = yield* senderOf(fresh)
  const plan = yield* planOf(fresh, options)
  yield* requireReady(plan, "the file")
  return { plan, sent: yield* applyDeployment(plan, sender, () => Effect.void) }
})

describe("a deployment", () => {
  it.live("plans without sending, sends what is lacking, seals, and then has nothing to send", () =>
    Effect.gen(function* () {
      const fresh = yield* freshChain()
      const before = yield* Effect.promise(() => fresh.client.getBlockNumber())
      const plan = yield* planOf(fresh)
      assert.deepStrictEqual([plan.wrong, plan.unpinned], [[], []])
      assert.strictEqual(yield* Effect.promise(() => fresh.client.getBlockNumber()), before)
      const entries = fresh.file.tokens.length + fresh.file.venues.length + fresh.file.lanes.length
      // Four contracts, entries, the sequencer, keys and the seal.
      assert.lengthOf(plan.steps, 4 + entries + 3)
      assert.strictEqual(plan.guard, (yield* applied(fresh)).plan.guard)
      assert.strictEqual(yield* sentBy(fresh, deployer), plan.steps.length)
      const read = (functionName: "administrator" | "state") =>
        Effect.promise(() => fresh.client.readContract({ address: plan.guard, abi: views, functionName }))
      assert.strictEqual(yield* read("administrator"), deployer)
      const [, , isPaused, isSealed] = (yield* read("state")) as readonly [string, bigint, boolean, boolean]
      assert.deepStrictEqual([isPaused, isSealed], [false, true])
      for (const { address, bandBps, feed, symbol } of fresh.file.tokens) {
        const shown = yield* Effect.promise(() =>
          fresh.client.readContract({ address: plan.guard, abi: views, functionName: "tokens", args: [address] })
        )
        assert.deepStrictEqual(
          [shown[0], shown[3], shown[9]],
          [
            feed === null ? "0x0000000000000000000000000000000000000000" : feed.address,
            bandBps,
            symbol === "USDC" ? 2 : 1
          ]
        )
      }
      const again = yield* applied(fresh)
      assert.deepStrictEqual([again.sent, again.plan.steps, again.plan.wrong], [0, [], []])
      assert.strictEqual(yield* sentBy(fresh, deployer), plan.steps.length)
    })
  )

  it.live("goes on where it was interrupted, after any number of transactions", () =>
    Effect.gen(function* () {
      const fresh = yield* freshChain()
      const whole = (yield* planOf(fresh)).steps.map(({ words }) => words)
      const sender = yield* senderOf(fresh)
      for (let sent = 0; sent < whole.length; sent += 1) {
        const plan = yield* planOf(fresh)
        assert.deepStrictEqual(
          plan.steps.map(({ words }) => words),
          whole.slice(sent)
        )
        yield* sender.send(plan.steps[0]!)
      }
      assert.deepStrictEqual((yield* planOf(fresh)).steps, [])
    })
  )

  it.live("waits for what an earlier run sent and did not see included, and does not send it again", () =>
    Effect.gen(function* () {
      const fresh = yield* freshChain()
      const [first, ...others] = (yield* planOf(fresh)).steps
      yield* Effect.promise(async () => {
        await fresh.client.setAutomine(false)
        await fresh.client.impersonateAccount({ address: deployer })
        const { data, gas, to } = first!
        await fresh.client.sendTransaction({ account: deployer, to, data, gas, chain: null })
      })
      const included = Effect.promise(() => fresh.client.mine({ blocks: 1 })).pipe(Effect.delay("500 millis"))
      yield* Effect.forkScoped(included)
      yield* senderOf(fresh)
      assert.deepStrictEqual(
        (yield* planOf(fresh)).steps.map(({ words }) => words),
        others.map(({ words }) => words)
      )
    })
  )

  it.live("hands the keys over, and leaves the seal to the new administrator", () =>
    Effect.gen(function* () {
      const fresh = yield* freshChain()
      const administrator = "0x52908400098527886E0F7030069857D2E4169EE7"
      const keys = { ...ownKeys, administrator } as const
      yield* applied(fresh, { keys })
      const plan = yield* planOf(fresh, { keys })
      assert.deepStrictEqual(stepsOf(plan, deployer), [])
      const [seal, ...others] = stepsOfOthers(plan, deployer)
      assert.lengthOf(others, 0)
      assert.strictEqual(seal!.from, administrator)
      assert.include(seal!.words, "seal the guard")
      assert.deepStrictEqual(stepsOf(plan, administrator), [seal!])
      yield* Effect.promise(async () => {
        await fresh.client.impersonateAccount({ address: administrator })
        await fresh.client.setBalance({ address: administrator, value: 10n ** 18n })
        const hash = await fresh.client.sendTransaction({
          account: administrator,
          to: seal!.to,
          data: seal!.data,
          chain: null
        })
        await fresh.client.waitForTransactionReceipt({ hash })
      })
      const done = yield* planOf(fresh, { keys })
      assert.deepStrictEqual([done.steps, done.wrong], [[], []])
    })
  )

  it.live("announces what a sealed guard gets later, waits two days, and makes it", () =>
    Effect.gen(function* () {
      const fresh = yield* freshChain()
      const [last, ...first] = fresh.file.tokens.toReversed()
      yield* applied(fresh, { file: { ...fresh.file, tokens: first.toReversed() } })
      const announced = yield* applied(fresh)
      assert.strictEqual(announced.sent, 1)
      assert.match(announced.plan.steps[0]!.words, /^announce, two days before it may be made: list /u)
      const waits = yield* planOf(fresh)
      assert.deepStrictEqual(waits.steps, [])
      assert.lengthOf(waits.waiting, 1)
      yield* Effect.promise(() => fresh.client.increaseTime({ seconds: 172_800 }))
      yield* Effect.promise(() => fresh.client.mine({ blocks: 1 }))
      const made = yield* applied(fresh)
      assert.include(made.plan.steps[0]!.words, `list ${last!.symbol}`)
      assert.deepStrictEqual((yield* planOf(fresh)).steps, [])
    })
  )

  it.live("refuses other code at a known address, a feed or token that says otherwise, and another chain", () =>
    Effect.gen(function* () {
      const fresh = yield* freshChain()
      const { file } = fresh
      const refused = Effect.fnUntraced(function* (other: ChainFile, reason: RegExp) {
        const plan = yield* planOf(fresh, { file: other })
        assert.deepStrictEqual(plan.steps, [])
        assert.lengthOf(plan.wrong, 1, plan.wrong.join("\n"))
        assert.match(plan.wrong[0]!, reason)
        const failed = yield* Effect.flip(applied(fresh, { file: other }))
        assert.match(failed.message, reason)
      })
      const withFeed = (change: Partial<NonNullable<ChainFile["tokens"][number]["feed"]>>): ChainFile => ({
        ...file,
        tokens: file.tokens.map((token, index) =>
          index === 0 ? { ...token, feed: { ...token.feed!, ...change } } : token
        )
      })
      yield* refused({ ...file, chainId: ChainId.make(1) }, /serves chain 8453, and the file is of chain 1/u)
      yield* refused(withFeed({ decimals: 18 }), /the feed sandbox .* says decimals 8, where the file has 18/u)
      yield* refused(
        withFeed({ description: "USDC / USD" }),
        /says description "sandbox", where the file has "USDC \/ USD"/u
      )
      yield* refused(
        { ...file, tokens: file.tokens.map((token, index) => (index === 0 ? { ...token, decimals: 7 } : token)) },
        /USDC .* says decimals 6, where the file has 7/u
      )
      const unpinned = { ...file, venues: file.venues.map((venue) => ({ ...venue, codeHash: null })) }
      assert.lengthOf((yield* planOf(fresh, { file: unpinned })).unpinned, 3)
      assert.match(
        (yield* Effect.flip(applied(fresh, { file: unpinned }))).message,
        /compare it with the chain's explorer/u
      )
      for (const { address, name } of [
        ...file.contracts,
        ...file.bridges,
        ...file.venues.map((venue) => ({ ...venue, address: venue.target }))
      ]) {
        if (name === "Multicall3") continue
        const code = (yield* Effect.promise(() => fresh.client.getCode({ address })))!
        yield* Effect.promise(() => fresh.client.setCode({ address, bytecode: `${code}00` }))
        yield* refused(file, /has other code/u)
        yield* Effect.promise(() => fresh.client.setCode({ address, bytecode: code }))
      }
      assert.strictEqual(yield* sentBy(fresh, deployer), 0)
      assert.deepStrictEqual((yield* planOf(fresh)).wrong, [])
    })
  )

  it.live("finds what somebody registered before the seal and the file does not list", () =>
    Effect.gen(function* () {
      const fresh = yield* freshChain()
      const plan = yield* planOf(fresh)
      const sender = yield* senderOf(fresh)
      const seal = plan.steps.at(-1)!
      for (const step of plan.steps.slice(0, -1)) yield* sender.send(step)
      const unlisted = (target: FreshChain) =>
        findUnlisted(target.file, { client: reader(target), guard: plan.guard, fromBlock: 0n })
      assert.deepStrictEqual(yield* unlisted(fresh), [])
      const venue = fresh.at.treasury
      const entry = { venue, spender: venue, kind: 2, maxLossBps: 0, maxUsd: 0n }
      const data = encodeFunctionData({ abi: views, functionName: "registerVenue", args: [entry] })
      yield* sender.send({ ...seal, words: "let the runner call the treasury", data })
      yield* sender.send(seal)
      assert.deepStrictEqual(yield* unlisted(fresh), [
        `the guard lists the venue ${fresh.at.treasury}, which the file does not`
      ])
    })
  )
})
