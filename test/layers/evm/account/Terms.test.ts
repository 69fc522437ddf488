/** Tighter terms that an owner signs: what the service sends stays within them, and the chain refuses what does not. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { encodeFunctionData, erc20Abi, type Hex } from "viem"
import { type AssetId, type ChainId, type EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import type { GuardTerms } from "#domain/account/Permission.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { PolicyReader } from "#domain/policy/ChainPolicy.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { revertReason } from "#layers/evm/revert/revertReason.ts"
import { tradeGuardAbi } from "#layers/evm/tradeGuard.ts"
import { type Chain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import {
  type Enrollment,
  EvmWorld,
  GuardedWorldLive,
  asset,
  batchOf,
  chainIdOf,
  execute,
  fund,
  owner,
  quotedSwap,
  token,
  withdrawalDomainName
} from "#test/layers/evm/EvmWorld.ts"
import { agentAccount } from "#test/layers/evm/account/sdkAccount.ts"
import { type Call, submitAlone } from "#test/layers/evm/relay/selfSubmitted.ts"
import { dollars } from "#test/layers/evm/tradingAccount.ts"
import { StandardMerkleTree } from "#test/layers/evm/account/merkle.ts"
import { addressOf, evmPolicy } from "#layers/evm/address.ts"

const enrolled = Effect.fnUntraced(function* (chain: Chain, accountIndex: bigint, terms: GuardTerms) {
  const accounts = yield* SmartAccounts
  const authorization = yield* accounts.authorize({
    accountType: "ECDSA",
    ownerAccountId: evmWallet(owner.address as string as EvmAddress),
    accountIndex,
    withdrawalDomainName,
    chains: [{ chainId: chainIdOf(chain), assets: [], terms }]
  })
  const ownerSignature = yield* Effect.promise(() => owner.signMessage({ message: { raw: authorization.root as Hex } }))
  const account = addressOf(authorization.chains[0].accountId)
  yield* fund(chain, account, { symbol: "USDC", raw: dollars(1_000n) })
  return { authorization, ownerSignature, account } satisfies Enrollment
})

const swap = (
  enrollment: Enrollment,
  chain: Chain,
  { amount, buy, sell }: { readonly sell: string; readonly buy: string; readonly amount: bigint }
) =>
  Effect.map(quotedSwap(chain, { sell, buy, sellAmountRaw: amount }), (quoted) => batchOf(enrollment, chain, [quoted]))

const refusal = Effect.fnUntraced(function* (batch: ReturnType<typeof batchOf>) {
  const error = yield* Effect.flip((yield* SwapBatches).prepare(batch))
  return String("reason" in error ? error.reason : error)
})

/** Why a call that is signed with the agent's key by hand does nothing. */
const attempt = (chain: Chain, enrollment: Enrollment, calls: ReadonlyArray<Call>) =>
  Effect.promise(async () => {
    const agent = await agentAccount(chain, enrollment)
    const callData = await agent.encodeCalls(calls.map((call) => ({ value: 0n, ...call })))
    const answer = await submitAlone(chain, agent, callData)
    return answer._tag === "Reverted" ? revertReason(answer.data) : answer._tag
  })

describe("terms that the owner signed", () => {
  layer(GuardedWorldLive, { excludeTestServices: true })((it) => {
    it.effect("a closed list: what is on it is bought with its proof, what is not is refused whoever asks", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const symbols = ["USDC", "WETH", "cbBTC"]
        const closedTokens = symbols.map((symbol) => token(base, symbol))
        const closedList = symbols.map((symbol) => asset(base, symbol)) as [AssetId, ...Array<AssetId>]
        const enrollment = yield* enrolled(base, 801n, { tradeBps: 0, budgetBps: 0, closedList })
        const one = yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
        const other = yield* quotedSwap(base, { sell: "USDC", buy: "cbBTC", sellAmountRaw: dollars(10n) })
        assert.isTrue((yield* execute(batchOf(enrollment, base, [one, other]))).receipt.success)
        assert.include(
          yield* refusal(yield* swap(enrollment, base, { sell: "USDC", buy: "AERO", amount: dollars(10n) })),
          "NotOnClosedList"
        )
        // What the account holds already is sold, whatever is on the list.
        yield* fund(base, enrollment.account, { symbol: "AERO", raw: 10n ** 18n })
        const sale = yield* swap(enrollment, base, { sell: "AERO", buy: "USDC", amount: 10n ** 18n })
        assert.isTrue((yield* execute(sale)).receipt.success)

        const { guard } = yield* (yield* PolicyReader).read([enrollment], base.chainId as ChainId)
        assert.strictEqual(guard!.closedRoot, StandardMerkleTree.rootOf(closedTokens))

        // The agent's thief buys no other token, with no proof or with that of one that is listed.
        const { guard: contract, router } = base.contracts
        const listed = [tokenBySymbol(base, "USDC").address, tokenBySymbol(base, "AERO").address].toSorted((a, b) =>
          BigInt(a) < BigInt(b) ? -1 : 1
        )
        const order = {
          venue: router,
          sell: listed.indexOf(tokenBySymbol(base, "USDC").address),
          buy: listed.indexOf(tokenBySymbol(base, "AERO").address),
          amount: dollars(10n),
          minOut: 0n,
          route: "0x" as Hex
        }
        const proofs = [[], StandardMerkleTree.proofOf(closedTokens, closedTokens[1]!)]
        for (const proof of proofs) {
          const reason = yield* attempt(base, enrollment, [
            {
              to: tokenBySymbol(base, "USDC").address,
              data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [contract, dollars(10n)] })
            },
            {
              to: contract,
              data: encodeFunctionData({
                abi: tradeGuardAbi,
                functionName: "trade",
                args: [listed, [order], { prices: [], proofs: [proof] }, 10n ** 12n]
              })
            }
          ])
          assert.include(reason, "NotOnClosedList")
        }
      })
    )

    it.effect("a list of one token alone works as well", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const closedList = [asset(base, "WETH")] as const
        const enrollment = yield* enrolled(base, 802n, { tradeBps: 0, budgetBps: 0, closedList })
        assert.isTrue(
          (yield* execute(yield* swap(enrollment, base, { sell: "USDC", buy: "WETH", amount: dollars(10n) }))).receipt
            .success
        )
        assert.isUndefined(evmPolicy(enrollment.authorization.chains[0]).bridge, "USDC is not on the list")
      })
    )

    it.effect("a limit of a trade, and one of a week: the chain shows them, and refuses what is beyond", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const limits = { tradeBps: 150, budgetBps: 120 }
        const within = yield* enrolled(base, 803n, limits)
        assert.isTrue(
          (yield* execute(yield* swap(within, base, { sell: "USDC", buy: "WETH", amount: dollars(100n) }))).receipt
            .success
        )
        const { guard } = yield* (yield* PolicyReader).read([within], base.chainId as ChainId)
        assert.deepInclude(guard, limits)
        // The pool's fee alone is thirty times either limit.
        const narrow = yield* enrolled(base, 804n, { tradeBps: 1, budgetBps: 0 })
        assert.include(
          yield* refusal(yield* swap(narrow, base, { sell: "USDC", buy: "WETH", amount: dollars(100n) })),
          "UnfairTrade"
        )
        const frugal = yield* enrolled(base, 805n, { tradeBps: 0, budgetBps: 1 })
        assert.include(
          yield* refusal(yield* swap(frugal, base, { sell: "USDC", buy: "WETH", amount: dollars(900n) })),
          "BudgetExceeded"
        )
      })
    )
  })
})
