import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { createPublicClient, encodeFunctionData, erc20Abi, http, keccak256, parseAbi, parseEther } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import * as Amount from "#domain/values/Amount.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Token } from "#sandbox/assets/catalog.ts"
import { blockGasLimit } from "#sandbox/chain/Anvil.ts"
import { type Chain, dumpState, setEther, startChain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import * as Faucet from "#sandbox/chain/Faucet.ts"
import * as Market from "#sandbox/chain/Market.ts"

class Base extends Context.Service<Base, Chain>()("ballast/test/Base") {
  static readonly layer = Layer.effect(Base, startChain({ chainId: 8453 }))
}

const routerAbi = parseAbi([
  "function getAmountsOut(uint256, address[]) view returns (uint256[])",
  "function swapExactTokensForTokens(uint256, uint256, address[], address, uint256) returns (uint256[])"
])

const quote = (chain: Chain, path: ReadonlyArray<Token>, amount: bigint) =>
  Effect.promise(async () => {
    const amounts = await chain.client.readContract({
      address: chain.contracts.router,
      abi: routerAbi,
      functionName: "getAmountsOut",
      args: [amount, path.map((token) => token.address)]
    })
    return amounts.at(-1)!
  })

const balance = (chain: Chain, token: Token, account: `0x${string}`) =>
  Effect.promise(() =>
    chain.client.readContract({ address: token.address, abi: erc20Abi, functionName: "balanceOf", args: [account] })
  )

/** Parts per million by which a small trade misses the price, the pool's fee of 0.3 percent set aside. */
const offPrice = Effect.fnUntraced(function* (chain: Chain, from: Token, to: Token) {
  const usd = 100n * Decimal.one
  const amountIn = Amount.fromUsd(usd, from.decimals, chain.prices.price(from.assetId))
  const amountOut = yield* quote(chain, [from, to], amountIn)
  const out = Amount.valueUsd(amountOut, to.decimals, chain.prices.price(to.assetId))
  const withoutFee = (out * 1000n) / 997n
  return Number(((withoutFee - usd) * 1_000_000n) / usd)
})

layer(Base.layer)("a chain of the world", (it) => {
  describe("what is installed", () => {
    it.effect("has EntryPoint 0.7 and Kernel 0.3.1 where client libraries expect them", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const hash = (address: `0x${string}`) =>
          Effect.promise(async () => keccak256((await chain.client.getCode({ address }))!))
        assert.strictEqual(
          yield* hash("0x0000000071727De22E5E9d8BAf0edAc6f37da032"),
          "0x8db5ff695839d655407cc8490bb7a5d82337a86a6b39c3f0258aa6c3b582fc58"
        )
        const abi = parseAbi([
          "function accountId() view returns (string)",
          "function implementation() view returns (address)"
        ])
        const kernel = chain.contracts.kernel
        assert.strictEqual(
          yield* Effect.promise(() => chain.client.readContract({ address: kernel, abi, functionName: "accountId" })),
          "kernel.advanced.v0.3.1"
        )
        assert.strictEqual(
          yield* Effect.promise(() =>
            chain.client.readContract({ address: chain.contracts.kernelFactory, abi, functionName: "implementation" })
          ),
          kernel
        )
      })
    )

    it.effect("has tokens with the metadata of their main network namesakes, readable in one multicall", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const read = yield* Effect.promise(() =>
          chain.client.multicall({
            allowFailure: false,
            contracts: chain.tokens.flatMap(({ address }) =>
              (["name", "symbol", "decimals"] as const).map((functionName) => ({
                address,
                abi: erc20Abi,
                functionName
              }))
            )
          })
        )
        assert.deepStrictEqual(
          read,
          chain.tokens.flatMap(({ name, symbol, decimals }) => [name, symbol, decimals])
        )
      })
    )

    it.effect("deploys Kernel accounts through the meta factory, and through no other factory", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const abi = parseAbi([
          "function deployWithFactory(address factory, bytes createData, bytes32 salt) returns (address)",
          "error NotApprovedFactory()"
        ])
        const attempt = Effect.tryPromise(() =>
          chain.client.simulateContract({
            address: chain.contracts.metaFactory,
            abi,
            functionName: "deployWithFactory",
            args: [chain.contracts.factory, "0x", `0x${"00".repeat(32)}`]
          })
        )
        const refusal = yield* Effect.flip(attempt)
        assert.include(String(refusal.cause), "NotApprovedFactory")
      })
    )
  })

  describe("market", () => {
    it.effect("quotes every token against USDC and WETH at the catalogue's prices", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        for (const token of chain.tokens) {
          for (const hub of [chain.catalog.usdc, chain.catalog.weth]) {
            if (token === hub) continue
            assert.isBelow(Math.abs(yield* offPrice(chain, token, hub)), 1_000, `${token.symbol}/${hub.symbol}`)
          }
        }
      })
    )

    it.effect("lets an account swap, and a trade of 100,000 dollars costs about one percent", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const trader = privateKeyToAccount(generatePrivateKey())
        const { usdc, weth } = chain.catalog
        const amount = 100_000_000_000n
        yield* setEther(chain, trader.address, parseEther("1"))
        yield* Faucet.mint(chain, trader.address, { token: usdc, amountRaw: amount })
        const expected = yield* quote(chain, [usdc, weth], amount)
        const send = (to: `0x${string}`, data: `0x${string}`) =>
          Effect.promise(async () => {
            const hash = await chain.client.sendTransaction({ account: trader, to, data })
            return (await chain.client.waitForTransactionReceipt({ hash })).status
          })
        const approve = encodeFunctionData({
          abi: erc20Abi,
          functionName: "approve",
          args: [chain.contracts.router, amount]
        })
        assert.strictEqual(yield* send(usdc.address, approve), "success")
        const swap = encodeFunctionData({
          abi: routerAbi,
          functionName: "swapExactTokensForTokens",
          args: [amount, expected, [usdc.address, weth.address], trader.address, 10n ** 12n]
        })
        assert.strictEqual(yield* send(chain.contracts.router, swap), "success")
        assert.strictEqual(yield* balance(chain, weth, trader.address), expected)
        const value = Amount.valueUsd(expected, weth.decimals, chain.prices.price(weth.assetId))
        assert.isTrue(value > 99_000n * Decimal.one && value < 100_000n * Decimal.one)
      })
    )

    for (const [symbol, price] of [
      ["WETH", "3217.55"],
      ["USDC", "0.97"],
      ["AERO", "0.0004"],
      ["cbBTC", "1250000"],
      ["EURC", "1.08"]
    ] as const) {
      it.effect(`moves all pools of ${symbol} to ${price}, within 0.1 percent, also after trades`, () =>
        Effect.gen(function* () {
          const chain = yield* Base
          const token = tokenBySymbol(chain, symbol)
          yield* Market.setPrice(chain, token, { priceUsd: Decimal.parse(price)! })
          assert.strictEqual(chain.prices.price(token.assetId), Decimal.parse(price))
          for (const hub of [chain.catalog.usdc, chain.catalog.weth]) {
            for (const other of chain.tokens.filter((candidate) => candidate !== hub)) {
              if (other !== token && hub !== token) continue
              assert.isBelow(Math.abs(yield* offPrice(chain, other, hub)), 1_000, `${other.symbol}/${hub.symbol}`)
              assert.isBelow(Math.abs(yield* offPrice(chain, hub, other)), 1_000, `${hub.symbol}/${other.symbol}`)
            }
          }
        })
      )
    }

    it.effect("refuses a price of zero", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const failure = yield* Effect.flip(Market.setPrice(chain, chain.catalog.weth, { priceUsd: 0n }))
        assert.include(failure.message, "above zero")
      })
    )
  })

  describe("faucet", () => {
    it.effect("mints any token, WETH included, and answers a mined transaction", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const account = privateKeyToAccount(generatePrivateKey()).address
        for (const token of chain.tokens) {
          const hash = yield* Faucet.mint(chain, account, { token, amountRaw: 12_345n })
          const receipt = yield* Effect.promise(() => chain.client.getTransactionReceipt({ hash }))
          assert.strictEqual(receipt.status, "success")
          assert.isTrue(receipt.logs.some((log) => log.address.toLowerCase() === token.address.toLowerCase()))
          assert.strictEqual(yield* balance(chain, token, account), 12_345n)
        }
      })
    )

    it.effect("sends native ether", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const account = privateKeyToAccount(generatePrivateKey()).address
        yield* Faucet.sendEther(chain, account, 5n)
        assert.strictEqual(yield* Effect.promise(() => chain.client.getBalance({ address: account })), 5n)
      })
    )
  })

  describe("time and state", () => {
    it.effect("moves forward by what is asked, and mines there", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const timestamp = Effect.promise(async () => (await chain.client.getBlock()).timestamp)
        const before = yield* timestamp
        yield* Market.advance(chain, 3_600_000)
        const moved = Number((yield* timestamp) - before)
        assert.isTrue(moved >= 3_600 && moved < 3_660, `${moved}`)
      })
    )

    it.effect("goes on from a dump: balances, prices of pools, time, and answers for states of before", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const account = privateKeyToAccount(generatePrivateKey()).address
        yield* Faucet.mint(chain, account, { token: chain.catalog.usdc, amountRaw: 99n })
        const restored = yield* startChain({ chainId: 8453, state: yield* dumpState(chain), prices: chain.prices })
        assert.strictEqual(yield* balance(restored, restored.catalog.usdc, account), 99n)
        assert.isBelow(Math.abs(yield* offPrice(restored, restored.catalog.weth, restored.catalog.usdc)), 10_000)
        const [old, now] = yield* Effect.promise(() =>
          Promise.all([chain, restored].map(async (one) => (await one.client.getBlock()).timestamp))
        )
        assert.isTrue(now! >= old!)
        const before = yield* Effect.promise(async () =>
          restored.client.readContract({
            address: restored.catalog.usdc.address,
            abi: erc20Abi,
            functionName: "balanceOf",
            args: [account],
            blockNumber: (await restored.client.getBlockNumber()) - 32n
          })
        )
        assert.strictEqual(before, 99n)
        yield* Faucet.mint(restored, account, { token: restored.catalog.weth, amountRaw: 1n })
      })
    )

    it.effect("names the chains it has when asked for another", () =>
      Effect.gen(function* () {
        const failure = yield* Effect.flip(Effect.scoped(startChain({ chainId: 1 })))
        assert.include(failure.message, "8453")
      })
    )

    it.effect("mines what did not fit into a block without a further arrival, and empty blocks after that", () =>
      Effect.gen(function* () {
        const { client } = yield* TestClock.withLive(startChain({ chainId: 8453, blockTimeMillis: 100 }))
        const sender = privateKeyToAccount(generatePrivateKey())
        yield* Effect.promise(async () => {
          await client.setBalance({ address: sender.address, value: parseEther("100") })
          // All but the first wait for its nonce, so they become ready at once when it arrives, the last arrival of
          // all.
          const send = (nonce: number) =>
            client.sendTransaction({ account: sender, to: sender.address, nonce, gas: blockGasLimit })
          const waiting = await Promise.all([1, 2, 3].map(send))
          const hashes = [await send(0), ...waiting]
          const receipts = await Promise.all(
            hashes.map((hash) => client.waitForTransactionReceipt({ hash, timeout: 60_000 }))
          )
          const blocks = receipts.map(({ blockNumber }) => blockNumber)
          assert.strictEqual(new Set(blocks).size, 4, "none of them leaves room for another")
          const last = blocks.at(-1)!
          await client.waitForTransactionReceipt({ hash: hashes.at(-1)!, confirmations: 4, timeout: 60_000 })
          assert.isAtLeast(Number(await client.getBlockNumber()), Number(last) + 3)
        })
      })
    )

    it.effect("keeps the states that confirmations may ask for, and no more: a long life costs no more memory", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        yield* Effect.promise(async () => {
          const { client } = chain
          await client.mine({ blocks: 200 })
          const head = await client.getBlockNumber()
          const at = (blockNumber: bigint) => client.getBalance({ address: chain.contracts.router, blockNumber })
          assert.strictEqual(await at(head - 60n), 0n)
          const gone = await at(head - 150n).then(
            () => false,
            () => true
          )
          assert.isTrue(gone, "the state of 150 blocks ago is still there")
        })
      })
    )

    it.effect("ends its process with the scope", () =>
      Effect.gen(function* () {
        const chain = yield* Effect.scoped(startChain({ chainId: 42161 }))
        assert.isFalse(chain.process.isRunning())
        const late = createPublicClient({ transport: http(chain.rpcUrl, { retryCount: 0 }) })
        yield* Effect.flip(Effect.tryPromise(() => late.getChainId()))
      })
    )
  })
})
