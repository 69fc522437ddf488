/**
 * What the service says of an agent's permission is so: each sentence of the policy is tried with the agent's key, on
 * real chains, and the calls that prove it answer the same to anybody.
 */
import { assert, describe, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { type Address, encodeFunctionData, erc20Abi, type Hex, parseAbi, toFunctionSelector } from "viem"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import type { ChainId } from "#domain/values/Caip.ts"
import { type ChainPolicy, PolicyReader } from "#domain/policy/ChainPolicy.ts"
import { rootSignature } from "#layers/evm/account/digestTree.ts"
import { kernelAbi } from "#layers/evm/contracts.ts"
import { runnerOf, tradeGuardAbi } from "#layers/evm/tradeGuard.ts"
import { type Chain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { operate } from "#sandbox/chain/operate.ts"
import { setRoutePools } from "#sandbox/chain/routePools.ts"
import {
  accountOn,
  batchOf,
  chainIdOf,
  type Enrollment,
  enroll,
  EvmWorld,
  EvmWorldLive,
  execute,
  fund,
  GuardedWorldLive,
  owner,
  quotedSwap,
  stranger,
  withdrawalDomainName
} from "#test/layers/evm/EvmWorld.ts"
import { agentAccount, revokeAll } from "#test/layers/evm/account/sdkAccount.ts"
import { type Call, outcomeOf, submitAlone } from "#test/layers/evm/relay/selfSubmitted.ts"
import { dollars } from "#test/layers/evm/tradingAccount.ts"
import { inPools, routeOver } from "#test/solidity/routedSwaps.ts"
import { erc20 } from "#domain/values/Caip.ts"
import { evmPolicy, fromViem } from "#layers/evm/address.ts"

const deadline = 10n ** 12n
const swapOn = (chain: Chain) => quotedSwap(chain, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })

const read = Effect.fnUntraced(function* (chain: Chain, ...enrollments: ReadonlyArray<Enrollment>) {
  const reader = yield* PolicyReader
  return yield* reader.read(enrollments, chainIdOf(chain) as ChainId)
})

/** Attempts calls as a thief with the owner's signature at hand, who enables again what is not installed. */
const attempt = (chain: Chain, enrollment: Enrollment, calls: ReadonlyArray<Call>) =>
  Effect.promise(async () => {
    const digests = enrollment.authorization.chains.map(({ digest }) => digest as Hex)
    const agent = await agentAccount(chain, enrollment, {
      enableSignature: rootSignature(enrollment.ownerSignature as Hex, digests, digests[0]!)
    })
    const callData = await agent.encodeCalls(calls.map((call) => ({ value: 0n, ...call })))
    return outcomeOf(await submitAlone(chain, agent, callData))
  })

const approve = (chain: Chain, symbol: string, spender: Address): Call => ({
  to: tokenBySymbol(chain, symbol).address,
  data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, 2n ** 200n] })
})

const stateOf = ({ permissions }: ChainPolicy) => permissions.map(({ state }) => state)

/** Every function that a thief would call, on every contract that the policy may name. */
const temptations = parseAbi([
  "function approve(address,uint256)",
  "function transfer(address,uint256)",
  "function transferFrom(address,address,uint256)",
  "function permit(address,address,uint256,uint256,uint8,bytes32,bytes32)",
  "function swapExactTokensForTokens(uint256,uint256,address[],address,uint256)",
  "function swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)",
  "function deposit(bytes32,bytes32,bytes32,bytes32,uint256,uint256,uint256,bytes32,uint32,uint32,uint32,bytes)",
  "function depositForBurn(uint256,uint32,bytes32,address,bytes32,uint256,uint32)",
  "function withdraw(address,(string,address,(address,uint256)[],bytes32,uint256),bytes)",
  "function execute(bytes32,bytes)",
  "function installModule(uint256,address,bytes)",
  "function uninstallModule(uint256,address,bytes)",
  "function invalidateNonce(uint32)",
  "function changeRootValidator(bytes21,address,bytes,bytes)",
  "function upgradeTo(address)",
  "function revoke(address,uint40,bytes)",
  "function registerVenue((address,address,uint8,uint16,uint64))"
])

/** Calldata whose arguments are words of no meaning: what is refused for its function is refused with any. */
const filled = (signature: string): Hex => `${toFunctionSelector(signature)}${"00".repeat(31)}20${"00".repeat(512)}`

const trading = Effect.fnUntraced(function* (chain: Chain, index: bigint) {
  const enrollment = yield* enroll(index, [[chain, "USDC", "WETH"]])
  yield* fund(chain, enrollment.account, { symbol: "USDC", raw: dollars(1_000n) })
  yield* execute(batchOf(enrollment, chain, [yield* swapOn(chain)]))
  return enrollment
})

describe("the policy of an account under the guard", () => {
  layer(GuardedWorldLive, { excludeTestServices: true })((it) => {
    it.effect(
      "an unused permission is listed before the account is on the chain, and an active one after its first use",
      () =>
        Effect.gen(function* () {
          const { base } = yield* EvmWorld
          const enrollment = yield* enroll(701n, [[base, "USDC", "WETH"]])
          const before = yield* read(base, enrollment)
          assert.deepStrictEqual([before.isDeployed, ...stateOf(before)], [false, "unused"])
          yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(100n) })
          yield* execute(batchOf(enrollment, base, [yield* swapOn(base)]))
          const after = yield* read(base, enrollment)
          assert.deepStrictEqual([after.isDeployed, ...stateOf(after)], [true, "active"])
          assert.strictEqual(after.permissions[0]!.kind, "guard")
          assert.strictEqual(after.permissions[0]!.agent, enrollment.authorization.agentAccountId.split(":")[2])
          assert.isAbove(Number(after.blockNumber), Number(before.blockNumber))
          assert.strictEqual(after.accountId, accountOn(enrollment, base))
        })
    )

    it.effect("calls that are not listed are refused, on every contract around the account", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* trading(base, 702n)
        const { allowed } = yield* read(base, enrollment)
        const { bridge, diamond, guard, router } = base.contracts
        const targets = [guard, router, diamond, bridge, enrollment.account, tokenBySymbol(base, "USDC").address]
        const isListed = (target: string, signature: string) =>
          allowed.some(
            (call) =>
              toFunctionSelector(call.function) === toFunctionSelector(signature) &&
              (call.target === null || call.target.toLowerCase() === target.toLowerCase())
          )
        let refused = 0
        for (const target of targets) {
          for (const { inputs, name } of temptations) {
            const parameters = inputs.map((input) =>
              input.type === "tuple" ? "(string,address,(address,uint256)[],bytes32,uint256)" : input.type
            )
            const signature = `${name}(${parameters.join(",")})`
            if (isListed(target, signature)) continue
            const outcome = yield* attempt(base, enrollment, [{ to: target as Address, data: filled(signature) }])
            assert.include(outcome, "CallNotAllowed", `${signature} of ${target}`)
            refused += 1
          }
        }
        assert.isAbove(refused, 80)
      })
    )

    it.effect("of the listed calls each is held to its rule", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* trading(base, 703n)
        const { allowed } = yield* read(base, enrollment)
        const { guard, router } = base.contracts
        const account = enrollment.account as string as Address
        const ownPermission = enrollment.authorization.chains[0].permissionId as Hex
        const uninstall = encodeFunctionData({
          abi: kernelAbi,
          functionName: "uninstallValidation",
          args: [`0x02${ownPermission.slice(2)}${"00".repeat(16)}`, "0x", "0x"]
        })
        const tighten = (tradeBps: number, budgetBps: number): Call => ({
          to: guard,
          data: encodeFunctionData({ abi: tradeGuardAbi, functionName: "tighten", args: [tradeBps, budgetBps] })
        })
        const broken: Readonly<Record<string, readonly [Call, string]>> = {
          approve: [approve(base, "USDC", router), "CallNotAllowed"],
          tighten: [tighten(201, 200), "reverted"],
          setFees: [
            { to: guard, data: encodeFunctionData({ abi: tradeGuardAbi, functionName: "setFees", args: [1, 0] }) },
            "reverted"
          ],
          uninstallValidation: [{ to: account, data: uninstall }, "CallNotAllowed"],
          trade: [{ ...approve(base, "USDC", guard), value: 1n }, "CallNotAllowed"]
        }
        for (const [call, outcome] of Object.values(broken)) {
          assert.include(yield* attempt(base, enrollment, [call]), outcome)
        }
        const names = allowed.map((call) => call.function.split("(")[0]!)
        assert.strictEqual(names.join(), "approve,trade,liquidate,send,setFees,tighten,settle,uninstallValidation")
        assert.strictEqual(yield* attempt(base, enrollment, [tighten(150, 100)]), "included")
        const { guard: after } = yield* read(base, enrollment)
        assert.deepInclude(after, { tradeBps: 150, budgetBps: 100 })
      })
    )

    it.effect("what trades lose is subtracted from the loss that is left, and a trade beyond that is refused", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* trading(base, 704n)
        const { guard: listed } = yield* read(base, enrollment)
        const { diamond, guard } = base.contracts
        const [usdc, weth] = [tokenBySymbol(base, "USDC"), tokenBySymbol(base, "WETH")]
        const tokens = [usdc.address, weth.address].toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
        // A pool of the thief's that pays 1.5 % less than the reference, within the limit of one trade.
        yield* setRoutePools(base, [usdc, weth], ({ assetId, symbol }) =>
          symbol === "WETH" ? (base.prices.price(assetId) * 10_000n) / 9_850n : base.prices.price(assetId)
        )
        const selling = (amount: bigint): ReadonlyArray<Call> => {
          const route = routeOver(
            base,
            inPools(base, { sell: usdc.address, buy: weth.address, amount }),
            runnerOf(fromViem(guard)) as string as Address
          )
          const order = {
            venue: diamond,
            sell: tokens.indexOf(usdc.address),
            buy: tokens.indexOf(weth.address),
            amount,
            minOut: 0n,
            route
          }
          const args = [tokens, [order], { prices: [], proofs: [] }, deadline] as const
          return [
            approve(base, "USDC", guard),
            { to: guard, data: encodeFunctionData({ abi: tradeGuardAbi, functionName: "trade", args: [...args] }) }
          ]
        }
        // A tenth of the account at 1.5 %, the pool's fee and the bands: the meter falls by that share of the account.
        assert.strictEqual(yield* attempt(base, enrollment, selling(dollars(100n))), "included")
        const { guard: after } = yield* read(base, enrollment)
        const used = Number(listed!.lossLeft - after!.lossLeft)
        assert.isAtLeast(used, 2_190_000)
        assert.isAtMost(used, 2_700_000)
        // Tightened to less than one such trade costs, the next one is beyond what is left.
        const tighten = encodeFunctionData({ abi: tradeGuardAbi, functionName: "tighten", args: [200, 20] })
        assert.strictEqual(yield* attempt(base, enrollment, [{ to: guard, data: tighten }]), "included")
        const { guard: tight } = yield* read(base, enrollment)
        assert.isBelow(Number(tight!.lossLeft), 600_000)
        assert.strictEqual(yield* attempt(base, enrollment, selling(dollars(100n))), "reverted")
      })
    )

    it.effect(
      "a permission that the owner revoked, on the account or in the guard, is listed as ended and acts no more",
      () =>
        Effect.gen(function* () {
          const { base } = yield* EvmWorld
          const guard = base.contracts.guard
          const revoked = yield* trading(base, 705n)
          yield* Effect.promise(() => revokeAll(base, owner, 705n))
          assert.deepStrictEqual(stateOf(yield* read(base, revoked)), ["ended"])
          assert.deepStrictEqual((yield* read(base, revoked)).allowed, [])
          assert.notStrictEqual(yield* attempt(base, revoked, [approve(base, "USDC", guard)]), "included")

          const word = yield* trading(base, 706n)
          const account = word.account as string as Address
          const issuedBefore = evmPolicy(word.authorization.chains[0]).guard!.issuedAt
          const signature = yield* Effect.promise(() =>
            owner.signTypedData({
              domain: { name: "Ballast", version: "1" },
              types: {
                Revoke: [
                  { name: "account", type: "address" },
                  { name: "issuedBefore", type: "uint40" }
                ]
              },
              primaryType: "Revoke",
              message: { account, issuedBefore }
            })
          )
          yield* Effect.promise(async () => {
            const hash = await base.client.writeContract({
              account: stranger,
              chain: null,
              address: guard,
              abi: tradeGuardAbi,
              functionName: "revoke",
              args: [account, owner.address, issuedBefore, signature]
            })
            await base.client.waitForTransactionReceipt({ hash })
          })
          assert.deepStrictEqual(stateOf(yield* read(base, word)), ["ended"])
          assert.notStrictEqual(yield* attempt(base, word, [approve(base, "USDC", guard)]), "included")
        })
    )

    it.effect("a replaced permission is listed as ended once the next one is used, and both are listed before", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const first = yield* trading(base, 709n)
        const accounts = yield* SmartAccounts
        const { accountIndex, accountType, chains, ownerAccountId } = first.authorization
        // The guard takes only what was issued later than what it has, by the second.
        yield* Effect.sleep("1100 millis")
        const authorization = yield* accounts.authorize({
          accountType,
          accountIndex,
          ownerAccountId,
          withdrawalDomainName,
          chains: [
            {
              chainId: chains[0].chainId,
              assets: evmPolicy(chains[0]).tokens.map((token) => erc20(chains[0].chainId, token)),
              enableNonce: 1
            }
          ]
        })
        const ownerSignature = yield* Effect.promise(() =>
          owner.signMessage({ message: { raw: authorization.root as Hex } })
        )
        const second: Enrollment = { ...first, authorization, ownerSignature }
        assert.deepStrictEqual(stateOf(yield* read(base, first, second)), ["unused", "active"])
        const replaced = [chains[0].permissionId]
        yield* execute({ ...batchOf(second, base, [yield* swapOn(base)]), replaced })
        assert.deepStrictEqual(stateOf(yield* read(base, first, second)), ["active", "ended"])
        const { guard } = base.contracts
        assert.notStrictEqual(yield* attempt(base, first, [approve(base, "USDC", guard)]), "included")
        assert.strictEqual(yield* attempt(base, second, [approve(base, "USDC", guard)]), "included")
      })
    )

    it.effect("its calls answer the same to anybody at the same block", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* trading(base, 708n)
        const { blockNumber, blockTime, checks } = yield* read(base, enrollment)
        const block = yield* Effect.promise(() => base.client.getBlock({ blockNumber }))
        assert.strictEqual(Number(block.timestamp) * 1000, DateTime.toEpochMillis(blockTime))
        assert.lengthOf(checks, 11)
        for (const { data, reads, to } of checks) {
          const answer = yield* Effect.promise(() =>
            base.client.call({ to: to as string as Address, data: data as Hex, blockNumber })
          )
          assert.isDefined(answer.data, reads)
        }
      })
    )

    // The last two, for they move their chains' time.
    it.effect("a permission whose time is over is listed as expired, and acts no more", () =>
      Effect.gen(function* () {
        const { arbitrum } = yield* EvmWorld
        const enrollment = yield* trading(arbitrum, 710n)
        const { guard } = arbitrum.contracts
        const [listed] = (yield* read(arbitrum, enrollment)).permissions
        const days = (DateTime.toEpochMillis(listed!.validUntil!) - Date.now()) / 86_400_000
        assert.isAbove(days, 179)
        assert.isAtMost(days, 180)
        assert.strictEqual(yield* attempt(arbitrum, enrollment, [approve(arbitrum, "USDC", guard)]), "included")
        yield* Effect.promise(() => arbitrum.client.increaseTime({ seconds: 181 * 86_400 }))
        yield* Effect.promise(() => arbitrum.client.mine({ blocks: 1 }))
        const after = yield* read(arbitrum, enrollment)
        assert.deepStrictEqual([stateOf(after), after.allowed], [["expired"], []])
        assert.include(yield* attempt(arbitrum, enrollment, [approve(arbitrum, "USDC", guard)]), "AA22")
      })
    )

    it.effect("a paused guard is reported, trades are refused, and it goes on two days after that was announced", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* trading(base, 707n)
        const { guard } = yield* read(base, enrollment)
        assert.isFalse(guard!.isPaused)
        const call = (what: string, data: Hex) => operate(base.client, { what, to: base.contracts.guard, data })
        yield* call("pause", toFunctionSelector("pause()"))
        const paused = (yield* read(base, enrollment)).guard!
        assert.isTrue(paused.isPaused)
        assert.isAbove(paused.registryVersion, guard!.registryVersion)
        const swap = yield* swapOn(base)
        const refused = yield* Effect.flip(execute(batchOf(enrollment, base, [swap])))
        assert.include(String((refused as { readonly reason?: string }).reason), "Paused")
        const unpause = toFunctionSelector("unpause()")
        const schedule = encodeFunctionData({
          abi: parseAbi(["function schedule(bytes call)"]),
          functionName: "schedule",
          args: [unpause]
        })
        yield* call("schedule the end of the pause", schedule)
        const early = yield* Effect.flip(call("unpause", unpause))
        assert.include(early.message, "reverted")
        yield* Effect.promise(() => base.client.increaseTime({ seconds: 2 * 86_400 }))
        yield* call("unpause", unpause)
        assert.isFalse((yield* read(base, enrollment)).guard!.isPaused)
      })
    )
  })
})

describe("the policy of an account under the old permission", () => {
  layer(EvmWorldLive, { excludeTestServices: true })((it) => {
    it.effect("is listed as what it is: no guard, no time limit, no limit on the price", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* trading(base, 751n)
        const { allowed, guard, permissions } = yield* read(base, enrollment)
        assert.isNull(guard)
        assert.deepInclude(permissions[0], { kind: "call_policy", state: "active", validUntil: null })
        assert.include(allowed.map(({ rule }) => rule).join(" "), "No limit on the price")
        const { router } = base.contracts
        assert.strictEqual(yield* attempt(base, enrollment, [approve(base, "USDC", router)]), "included")
        assert.notStrictEqual(yield* attempt(base, enrollment, [approve(base, "USDC", stranger.address)]), "included")
      })
    )
  })
})
