/**
 * The agent may hand USDC to the bridge for the same account on another listed chain, and whoever holds its key may
 * too; nothing else of the bridge passes, and nothing reaches anybody else.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { type Address, encodeFunctionData, erc20Abi, type Hex, parseAbi, parseEventLogs } from "viem"
import { addressOf, type EvmAddress } from "#domain/values/Caip.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { TransferReceipts } from "#domain/transfer/TransferReceipts.ts"
import { bridgeAbi } from "#layers/evm/contracts.ts"
import { bridgeVaultAbi } from "#sandbox/chain/bridgeVault.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import {
  accountOn,
  asset,
  batchOf,
  ConnectedWorldLive,
  enroll,
  type Enrollment,
  EvmWorld,
  execute,
  fund,
  quotedSwap,
  stranger,
  token
} from "#test/layers/evm/EvmWorld.ts"
import { agentAccount } from "#test/layers/evm/account/sdkAccount.ts"
import { type Call, outcomeOf, submitAlone } from "#test/layers/evm/relay/selfSubmitted.ts"
import { balance, deltasOf, dollars } from "#test/layers/evm/tradingAccount.ts"

const amount = dollars(100n)

class Victim extends Context.Service<
  Victim,
  { readonly base: Chain; readonly arbitrum: Chain; readonly enrollment: Enrollment; readonly account: Address }
>()("ballast/test/BridgeVictim") {
  static readonly layer = Layer.effect(
    Victim,
    Effect.gen(function* () {
      const { arbitrum, base } = yield* EvmWorld
      const enrollment = yield* enroll(310n, [
        [base, "USDC", "WETH"],
        [arbitrum, "USDC", "WETH"]
      ])
      yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(10_000n) })
      yield* execute(
        batchOf(enrollment, base, [
          yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(100n) })
        ])
      )
      return Victim.of({ base, arbitrum, enrollment, account: enrollment.account as string as Address })
    })
  )
}

const transferOf = ({ arbitrum, base }: Pick<Victim["Service"], "base" | "arbitrum">): OutgoingTransfer => ({
  sell: asset(base, "USDC"),
  buy: asset(arbitrum, "USDC"),
  amountRaw: amount,
  minRaw: dollars(99n),
  expectedRaw: amount,
  bridgeAddress: base.contracts.bridge as string as EvmAddress,
  tool: "vault"
})

interface Asked {
  readonly token: Address
  readonly chainId: bigint
  readonly destinationToken: Address
  readonly recipient: Address
}

const approve = (chain: Chain, spender: Address, symbol = "USDC"): Call => ({
  to: token(chain, symbol) as string as Address,
  data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, amount] })
})

const lock = ({ account, arbitrum, base }: Victim["Service"], but: Partial<Asked> = {}): Call => ({
  to: base.contracts.bridge,
  data: encodeFunctionData({
    abi: bridgeAbi,
    functionName: "lock",
    args: [
      but.token ?? (token(base, "USDC") as string as Address),
      amount,
      but.chainId ?? 42161n,
      but.destinationToken ?? (token(arbitrum, "USDC") as string as Address),
      0n,
      but.recipient ?? account
    ]
  })
})

const allowance = ({ base }: Victim["Service"]) => approve(base, base.contracts.bridge)

/** What becomes of an operation of the thief, which he submits himself. */
const attempt = Effect.fnUntraced(function* (build: (victim: Victim["Service"]) => ReadonlyArray<Call>) {
  const victim = yield* Victim
  return yield* Effect.promise(async () => {
    const account = await agentAccount(victim.base, victim.enrollment)
    return outcomeOf(await submitAlone(victim.base, account, await account.encodeCalls(build(victim))))
  })
})

const attempts: ReadonlyArray<readonly [name: string, build: (victim: Victim["Service"]) => ReadonlyArray<Call>]> = [
  ["sends to himself", (victim) => [allowance(victim), lock(victim, { recipient: stranger.address })]],
  ["sends to a chain that is not listed", (victim) => [allowance(victim), lock(victim, { chainId: 1n })]],
  [
    "asks for a token that is not listed",
    (victim) => [
      allowance(victim),
      lock(victim, { destinationToken: token(victim.arbitrum, "WETH") as string as Address })
    ]
  ],
  [
    "sends another token than the one that may leave",
    (victim) => [
      approve(victim.base, victim.base.contracts.bridge, "WETH"),
      lock(victim, { token: token(victim.base, "WETH") as string as Address })
    ]
  ],
  [
    "uses a bridge of his own",
    (victim) => [approve(victim.base, stranger.address), { ...lock(victim), to: stranger.address }]
  ],
  [
    "calls another function of the bridge",
    ({ base }) => [
      {
        to: base.contracts.bridge,
        data: encodeFunctionData({
          abi: parseAbi(["function refund(bytes32 id)"]),
          functionName: "refund",
          args: [`0x${"00".repeat(32)}`]
        })
      }
    ]
  ]
]

describe("The bridge and a stolen agent key", () => {
  layer(Layer.provideMerge(Victim.layer, ConnectedWorldLive), { excludeTestServices: true })((it) => {
    it.effect("a batch swaps and sends in one operation, and the vault owes the account exactly that", () =>
      Effect.gen(function* () {
        const victim = yield* Victim
        const { base, enrollment } = victim
        const swap = yield* quotedSwap(base, { sell: "WETH", buy: "USDC", sellAmountRaw: 10n ** 15n })
        const transfer = transferOf(victim)
        const batch = { ...batchOf(enrollment, base, [swap]), transfers: [transfer] }
        const { receipt } = yield* execute(batch)
        assert.isTrue(receipt.success)
        assert.strictEqual(deltasOf(receipt).get(transfer.sell), swap.minBuyAmountRaw - amount)
        const logs = yield* Effect.promise(() =>
          base.client.getTransactionReceipt({ hash: receipt.txHash as Hex }).then((found) => found.logs)
        )
        const [locked] = parseEventLogs({ abi: bridgeVaultAbi, eventName: "Locked", logs })
        assert.strictEqual(locked?.args.amount, amount)
        assert.strictEqual(locked?.args.minOut, transfer.minRaw)
        assert.strictEqual(locked?.args.recipient, victim.account)
        const arrivals = yield* TransferReceipts
        const sent = yield* arrivals.read(accountOn(enrollment, base), receipt.txHash)
        assert.isTrue(sent._tag === "Some" && sent.value.success)
      })
    )

    it.effect("is also the first operation of an account on a chain", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const enrollment = yield* enroll(311n, [[base, "USDC", "WETH"]])
        yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(1_000n) })
        const transfers = [transferOf({ arbitrum, base })]
        const { receipt } = yield* execute({ ...batchOf(enrollment, base, []), transfers })
        assert.isTrue(receipt.success)
      })
    )

    it.effect("refuses to prepare what the owner did not allow", () =>
      Effect.gen(function* () {
        const victim = yield* Victim
        const execution = yield* SwapBatches
        const honest = transferOf(victim)
        for (const lie of [
          { ...honest, bridgeAddress: addressOf(honest.sell) },
          { ...honest, sell: asset(victim.base, "WETH") },
          { ...honest, buy: asset(victim.arbitrum, "WETH") },
          { ...honest, amountRaw: 0n },
          { ...honest, amountRaw: dollars(1_000_000n) }
        ]) {
          const batch = { ...batchOf(victim.enrollment, victim.base, []), transfers: [lie] }
          assert.strictEqual((yield* Effect.flip(execution.prepareForRun(batch)))._tag, "SimulationFailed")
        }
      })
    )

    it.effect("still sends to the account itself, so that the refusals below mean something", () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* attempt((victim) => [allowance(victim), lock(victim)]), "included")
      })
    )

    for (const [name, build] of attempts) {
      it.effect(name, () =>
        Effect.gen(function* () {
          const { base, enrollment } = yield* Victim
          const before = yield* balance(base, "USDC", enrollment.account)
          assert.match(yield* attempt(build), /^AA23/u)
          assert.strictEqual(yield* balance(base, "USDC", enrollment.account), before)
        })
      )
    }
  })
})
