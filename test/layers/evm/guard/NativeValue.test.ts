/** What the legacy execution says of native value is so: the owner's permission under the guard lets none leave. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Address, encodeFunctionData, erc20Abi, type Hex } from "viem"
import { rootSignature } from "#layers/evm/account/digestTree.ts"
import { tradeGuardAbi } from "#layers/evm/tradeGuard.ts"
import { type Chain, setEther, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import {
  batchOf,
  type Enrollment,
  enroll,
  EvmWorld,
  execute,
  fund,
  GuardedWorldLive,
  quotedSwap,
  stranger
} from "#test/layers/evm/EvmWorld.ts"
import { agentAccount } from "#test/layers/evm/account/sdkAccount.ts"
import { type Call, outcomeOf, submitAlone } from "#test/layers/evm/relay/selfSubmitted.ts"
import { dollars } from "#test/layers/evm/tradingAccount.ts"

const swapOn = (chain: Chain) => quotedSwap(chain, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })

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

const trading = Effect.fnUntraced(function* (chain: Chain, index: bigint) {
  const enrollment = yield* enroll(index, [[chain, "USDC", "WETH"]])
  yield* fund(chain, enrollment.account, { symbol: "USDC", raw: dollars(1_000n) })
  yield* execute(batchOf(enrollment, chain, [yield* swapOn(chain)]))
  return enrollment
})

describe("native value", () => {
  layer(GuardedWorldLive, { excludeTestServices: true })((it) => {
    it.effect("no native value leaves the account, with a call that passes without it, alone or among others", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* trading(base, 711n)
        const account = enrollment.account as string as Address
        const { guard } = base.contracts
        const wei = 10n ** 18n
        yield* setEther(base, account, wei)
        const tighten: Call = {
          to: guard,
          data: encodeFunctionData({ abi: tradeGuardAbi, functionName: "tighten", args: [190, 190] })
        }
        const passing = [approve(base, "USDC", guard), tighten]
        for (const call of passing) {
          const paying = { ...call, value: 1n }
          for (const calls of [[paying], [call, paying], [paying, call]])
            assert.include(yield* attempt(base, enrollment, calls), "CallNotAllowed")
        }
        const plain = { to: stranger.address, data: "0x", value: 1n } as const
        assert.include(yield* attempt(base, enrollment, [plain]), "CallNotAllowed")
        assert.strictEqual(yield* attempt(base, enrollment, passing), "included")
        assert.strictEqual(yield* Effect.promise(() => base.client.getBalance({ address: account })), wei)
      })
    )
  })
})
