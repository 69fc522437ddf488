/**
 * The agent may hand USDC to the bridge for the same account on another listed chain, and whoever holds its key may
 * too; nothing else of the bridge passes, and nothing reaches anybody else.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { type Address, encodeFunctionData, erc20Abi, type Hex, pad, parseEventLogs, zeroHash } from "viem"
import { addressOf, type EvmAddress } from "#domain/values/Caip.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { TransferReceipts } from "#domain/transfer/TransferReceipts.ts"
import { spokePoolAbi, timeOf } from "#sandbox/chain/spokePool.ts"
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
  readonly depositor: Address
  readonly exclusiveRelayer: Address
  readonly exclusivity: number
  readonly message: Hex
  /** Present time of the chain, in seconds since 1970. */
  readonly now: number
}

const approve = (chain: Chain, spender: Address, symbol = "USDC"): Call => ({
  to: token(chain, symbol) as string as Address,
  data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, amount] })
})

const deposit = ({ account, arbitrum, base }: Victim["Service"], now: number, but: Partial<Asked> = {}): Call => ({
  to: base.contracts.bridge,
  data: encodeFunctionData({
    abi: spokePoolAbi,
    functionName: "deposit",
    args: [
      pad(but.depositor ?? account),
      pad(but.recipient ?? account),
      pad(but.token ?? (token(base, "USDC") as string as Address)),
      pad(but.destinationToken ?? (token(arbitrum, "USDC") as string as Address)),
      amount,
      0n,
      but.chainId ?? 42161n,
      but.exclusiveRelayer === undefined ? zeroHash : pad(but.exclusiveRelayer),
      now,
      now + 3_600,
      but.exclusivity ?? 0,
      but.message ?? "0x"
    ]
  })
})

const allowance = ({ base }: Victim["Service"]) => approve(base, base.contracts.bridge)

type Attempt = (victim: Victim["Service"], now: number) => ReadonlyArray<Call>

/** What becomes of an operation of the thief, which he submits himself. */
const attempt = Effect.fnUntraced(function* (build: Attempt) {
  const victim = yield* Victim
  const now = yield* timeOf(victim.base)
  return yield* Effect.promise(async () => {
    const account = await agentAccount(victim.base, victim.enrollment)
    return outcomeOf(await submitAlone(victim.base, account, await account.encodeCalls(build(victim, now))))
  })
})

const attempts: ReadonlyArray<readonly [name: string, build: Attempt]> = [
  ["sends to himself", (victim, now) => [allowance(victim), deposit(victim, now, { recipient: stranger.address })]],
  [
    "has what nobody fills given back to himself",
    (victim, now) => [allowance(victim), deposit(victim, now, { depositor: stranger.address })]
  ],
  [
    "lets himself alone fill",
    (victim, now) => [allowance(victim), deposit(victim, now, { exclusiveRelayer: stranger.address })]
  ],
  ["asks for exclusivity", (victim, now) => [allowance(victim), deposit(victim, now, { exclusivity: 60 })]],
  ["sends a message along", (victim, now) => [allowance(victim), deposit(victim, now, { message: "0x01" })]],
  ["sends to a chain that is not listed", (victim, now) => [allowance(victim), deposit(victim, now, { chainId: 1n })]],
  [
    "asks for a token that is not listed",
    (victim, now) => [
      allowance(victim),
      deposit(victim, now, { destinationToken: token(victim.arbitrum, "WETH") as string as Address })
    ]
  ],
  [
    "sends another token than the one that may leave",
    (victim, now) => [
      approve(victim.base, victim.base.contracts.bridge, "WETH"),
      deposit(victim, now, { token: token(victim.base, "WETH") as string as Address })
    ]
  ],
  [
    "uses a bridge of his own",
    (victim, now) => [approve(victim.base, stranger.address), { ...deposit(victim, now), to: stranger.address }]
  ],
  [
    "calls another function of the bridge",
    ({ base }) => [
      {
        to: base.contracts.bridge,
        data: encodeFunctionData({
          abi: spokePoolAbi,
          functionName: "refund",
          args: [0n]
        })
      }
    ]
  ]
]

describe("The bridge and a stolen agent key", () => {
  layer(Layer.provideMerge(Victim.layer, ConnectedWorldLive), { excludeTestServices: true })((it) => {
    it.effect("a batch swaps and sends in one operation, and the pool owes the account exactly that", () =>
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
        const [deposited] = parseEventLogs({ abi: spokePoolAbi, eventName: "FundsDeposited", logs })
        assert.strictEqual(deposited?.args.inputAmount, amount)
        assert.strictEqual(deposited?.args.outputAmount, transfer.minRaw)
        assert.strictEqual(deposited?.args.recipient, pad(victim.account).toLowerCase())
        assert.strictEqual(deposited?.args.depositor, pad(victim.account).toLowerCase())
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
        assert.strictEqual(yield* attempt((victim, now) => [allowance(victim), deposit(victim, now)]), "included")
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
