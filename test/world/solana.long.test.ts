/** Owners of both kinds on Solana, over the wire and with real signatures, in a world whose service may die. */
import { Keypair } from "@solana/web3.js"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { addressOf, solanaChainId, solanaReference, type WalletId } from "#domain/values/Caip.ts"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { evmWalletOf, newEvmWallet } from "#test/layers/solana/owners.ts"
import { eventually } from "#test/support/World.ts"
import {
  asset,
  atRest,
  balances,
  begin,
  call,
  data,
  dieIn,
  ended,
  enrollOnBase,
  faucet,
  goOn,
  idOf,
  landing,
  nearHalf,
  newStrategy,
  operationsOf,
  portfoliosOf,
  position,
  refused,
  rpc,
  signed,
  signatureOfRole,
  start,
  stop,
  tokenBalance,
  untilSent,
  waitsForJupiter,
  signedText,
  world
} from "#test/world/support/solanaWorld.ts"

beforeAll(start, 300_000)
afterAll(stop, 300_000)

describe("Solana in a deployment", () => {
  it("is among the chains, its tokens among the assets, and ready", async () => {
    const { chains } = await data(200, { method: "GET", path: "/v2/chains" })
    assert.deepInclude(
      chains.find((chain: any) => chain.chainId === solanaChainId),
      {
        name: "Solana",
        status: "available",
        confirmations: 1,
        usdcAssetId: asset("USDC").assetId,
        explorerUrl: "https://explorer.solana.com"
      }
    )
    const { assets } = await data(200, { method: "GET", path: `/v2/assets?chainId=${solanaChainId}` })
    assert.includeMembers(
      assets.map(({ symbol }: any) => symbol),
      ["USDC", "SOL", "TSLAx"]
    )
    assert.strictEqual((await world.api("GET", "/health/ready")).status, 200)
  })

  it("is not for tenants without the entitlement", async () => {
    const strategyId = await newStrategy()
    const other = world.overview.tenants.find(({ name }) => name !== "Contoso")!.apiKey
    const draft = { ownerAccountId: idOf(Keypair.generate()), strategyId, chainIds: [solanaChainId] }
    const answer = await world.apiWith({ "x-api-key": other })("POST", "/v2/enroll/signature", draft)
    assert.deepStrictEqual([answer.status, answer.body.error.code], [403, "API_104"])
  })
})

describe("the whole journey of an owner with a Solana key", () => {
  const owner = Keypair.generate()
  let portfolioId: string
  let accountId: string

  it("enrolls, deposits, and sees what is held on Solana", async () => {
    const { body, issued } = await signed(owner, await newStrategy())
    portfolioId = (await data(201, { method: "POST", path: "/v2/enroll", body })).portfolioId
    assert.strictEqual((await data(201, { method: "POST", path: "/v2/enroll", body })).portfolioId, portfolioId)
    accountId = issued.depositAccountId
    await faucet(accountId, "USDC", 1_000_000_000n)
    const usdc = await position(portfolioId, "USDC")
    assert.deepInclude(usdc, { smartAccountId: accountId, balanceRaw: "1000000000" })
  })

  it("is brought to its targets when it asks, again by the schedule after the market moved, and once Jupiter answers", async () => {
    const { operationId } = await data(202, { method: "POST", path: `/v2/portfolios/${portfolioId}/rebalance` })
    assert.strictEqual((await ended(portfolioId, operationId)).outcome, "traded")
    await nearHalf(portfolioId)
    await atRest(portfolioId)
    await faucet(accountId, "USDC", 600_000_000n)
    await world.control("/clock/advance", { ms: 25 * 3_600_000 })
    await eventually(
      "the schedule traded",
      async () =>
        (await operationsOf(portfolioId)).find((one) => one.operationId !== operationId && one.outcome === "traded"),
      () => operationsOf(portfolioId)
    )
    await waitsForJupiter(portfolioId, accountId)
  })

  it("withdraws by a signed text: exactly what it names, to whom it names, once", async () => {
    await data(200, { method: "POST", path: `/v2/portfolios/${portfolioId}/stop` })
    const recipient = Keypair.generate()
    const before = await balances(portfolioId)
    const asked = [
      { assetId: asset("USDC").assetId, amountRaw: "25000000" },
      { assetId: asset("JUP").assetId, amountRaw: "1000000" }
    ]
    const { authorization, authorizationId } = await data(200, {
      method: "POST",
      path: `/v2/portfolios/${portfolioId}/withdraw/signature`,
      body: {
        recipientAccountId: idOf(recipient),
        assets: asked
      }
    })
    assert.deepInclude(authorization.message, { portfolioId, nonce: authorizationId, assets: asked })
    const sent = { message: authorization.message, signature: signedText(owner, authorization.text) }
    const { operationId } = await data(202, {
      method: "POST",
      path: `/v2/portfolios/${portfolioId}/withdraw`,
      body: sent
    })
    assert.strictEqual(
      (await data(202, { method: "POST", path: `/v2/portfolios/${portfolioId}/withdraw`, body: sent })).operationId,
      operationId
    )
    const done = await ended(portfolioId, operationId)
    assert.deepInclude(done, { kind: "withdraw", state: "completed" })
    assert.deepStrictEqual(
      done.result.chains[0].transfers.map(({ buy, receivedRaw }: any) => [buy, receivedRaw]),
      asked.map(({ amountRaw, assetId }) => [assetId, amountRaw])
    )
    for (const { amountRaw, assetId } of asked) {
      assert.strictEqual(await tokenBalance(recipient.publicKey, assetId), BigInt(amountRaw))
    }
    const after = await eventually("positions show it", async () => {
      const now = await balances(portfolioId)
      return now.get("USDC") === before.get("USDC")! - 25_000_000n ? now : undefined
    })
    assert.strictEqual(after.get("JUP"), before.get("JUP")! - 1_000_000n)
  })

  it("is refused what somebody else signed, what it has not, and recipients that lose what they get", async () => {
    const recipientAccountId = idOf(Keypair.generate())
    const some = [{ assetId: asset("USDC").assetId, amountRaw: "1000000" }]
    const path = `/v2/portfolios/${portfolioId}/withdraw`
    const { authorization } = await data(200, {
      method: "POST",
      path: `${path}/signature`,
      body: { recipientAccountId, assets: some }
    })
    const { message, text } = authorization
    const code = async (route: string, body: unknown) => (await call("POST", route, body)).body.error.code
    assert.strictEqual(await code(path, { message, signature: signedText(Keypair.generate(), text) }), "API_217")
    const more = { ...message, assets: [{ ...some[0], amountRaw: "2000000" }] }
    assert.strictEqual(await code(path, { message: more, signature: signedText(owner, text) }), "API_217")
    const stage1 = (changes: object) => code(`${path}/signature`, { recipientAccountId, assets: some, ...changes })
    assert.strictEqual(await stage1({ assets: [{ ...some[0], amountRaw: "900000000000" }] }), "API_210")
    assert.strictEqual(await stage1({ recipientAccountId: accountId }), "API_211")
    const mint = some[0]!.assetId.split(":").at(-1)
    assert.strictEqual(await stage1({ recipientAccountId: `solana:${solanaReference}:${mint}` }), "API_211")
    assert.strictEqual(await stage1({ assets: [...some, ...some] }), "API_212")
    const { assetId } = world.asset(8453, "USDC")
    assert.strictEqual(await stage1({ assets: [{ assetId, amountRaw: "1" }] }), "API_213")
    assert.strictEqual(await stage1({ liquidate: true }), "API_219")
  })

  it("withdraws once although the service is killed while the transaction is on its way", async () => {
    const recipient = Keypair.generate()
    const { assetId } = asset("USDC")
    const path = `/v2/portfolios/${portfolioId}/withdraw`
    const { authorization } = await data(200, {
      method: "POST",
      path: `${path}/signature`,
      body: {
        recipientAccountId: idOf(recipient),
        assets: [{ assetId, amountRaw: "5000000" }]
      }
    })
    await landing("lost")
    const { operationId } = await data(202, {
      method: "POST",
      path,
      body: {
        message: authorization.message,
        signature: signedText(owner, authorization.text)
      }
    })
    await eventually("the operation runs", async () => {
      const { state } = await data(200, {
        method: "GET",
        path: `/v2/portfolios/${portfolioId}/operations/${operationId}`
      })
      return state === "running" ? true : undefined
    })
    await untilSent()
    assert.strictEqual((await world.control("/faults", { target: "api", mode: "kill" })).status, 200)
    await landing("ok")
    assert.strictEqual((await ended(portfolioId, operationId)).state, "completed")
    assert.strictEqual(await tokenBalance(recipient.publicKey, assetId), 5_000_000n)
  })
})

describe("an owner with an EVM wallet", () => {
  it("enrolls twice in one wallet, its signatures counted", async () => {
    const owner = newEvmWallet()
    const ownerId = `eip155:0:${owner.address}`
    const first = await begin(ownerId, await newStrategy())
    await data(201, {
      method: "POST",
      path: "/v2/enroll",
      body: { ...first.body, ...(await signatureOfRole(owner, first.issued)) }
    })
    const second = await begin(ownerId, await newStrategy())
    assert.deepInclude(second.issued, { reusedWallet: true, walletRoleId: 2, odometer: 2 })
    await data(201, {
      method: "POST",
      path: "/v2/enroll",
      body: { ...second.body, ...(await signatureOfRole(owner, second.issued)) }
    })
    assert.lengthOf(await portfoliosOf(ownerId), 2)
  })

  it("is brought to its targets, and withdraws by a personal signature over the same lines", async () => {
    const owner = newEvmWallet()
    const { body, issued } = await begin(`eip155:0:${owner.address}`, await newStrategy())
    const { portfolioId } = await data(201, {
      method: "POST",
      path: "/v2/enroll",
      body: { ...body, ...(await signatureOfRole(owner, issued)) }
    })
    await faucet(issued.depositAccountId, "USDC", 500_000_000n)
    await position(portfolioId, "USDC")
    const rebalance = await data(202, { method: "POST", path: `/v2/portfolios/${portfolioId}/rebalance` })
    assert.strictEqual((await ended(portfolioId, rebalance.operationId)).outcome, "traded")
    const recipient = Keypair.generate()
    const path = `/v2/portfolios/${portfolioId}/withdraw`
    const { authorization } = await data(200, {
      method: "POST",
      path: `${path}/signature`,
      body: {
        recipientAccountId: idOf(recipient),
        assets: [{ assetId: asset("JUP").assetId, amountRaw: "1000000" }]
      }
    })
    const signature = await owner.sign(Buffer.from(authorization.raw.slice(2), "hex").toString("utf8"))
    const { operationId } = await data(202, {
      method: "POST",
      path,
      body: { message: authorization.message, signature }
    })
    assert.strictEqual((await ended(portfolioId, operationId)).state, "completed")
    assert.strictEqual(await tokenBalance(recipient.publicKey, asset("JUP").assetId), 1_000_000n)
  })
})

describe("an owner with a portfolio on Solana and one on an EVM chain", () => {
  const account = privateKeyToAccount(generatePrivateKey())
  const ownerAccountId = `eip155:0:${account.address}`
  const usdcOf = (chainId: number) => world.asset(chainId, "USDC").assetId
  const halfOn = (chainId: number, symbol: string) =>
    newStrategy([usdcOf(chainId), world.asset(chainId, symbol).assetId])
  let onBase: { readonly portfolioId: string; readonly accountId: string }
  let onSolana: { readonly portfolioId: string; readonly accountId: string }

  it("enrolls on both with one wallet, deposits, and each is brought to its targets", async () => {
    onBase = await enrollOnBase(account, await halfOn(8453, "WETH"))
    const begun = await begin(ownerAccountId, await halfOn(solanaChainId, "JUP"))
    const { portfolioId } = await data(201, {
      method: "POST",
      path: "/v2/enroll",
      body: { ...begun.body, ...(await signatureOfRole(evmWalletOf(account), begun.issued)) }
    })
    onSolana = { portfolioId, accountId: begun.issued.depositAccountId }
    assert.sameMembers(
      (await portfoliosOf(ownerAccountId)).map((one) => one.portfolioId),
      [onBase.portfolioId, onSolana.portfolioId]
    )

    for (const [chainId, { accountId }] of [[8453, onBase] as const, [solanaChainId, onSolana] as const]) {
      const gift = { accountId, assetId: usdcOf(chainId), amountRaw: "800000000" }
      assert.strictEqual((await world.control("/faucet", gift)).status, 200)
    }
    for (const { portfolioId: id } of [onBase, onSolana]) {
      await position(id, "USDC")
      const { operationId } = await data(202, { method: "POST", path: `/v2/portfolios/${id}/rebalance` })
      assert.strictEqual((await ended(id, operationId)).outcome, "traded")
      await nearHalf(id)
    }
  })

  it("is brought back on both by the schedules, when a day has passed and the market has moved", async () => {
    for (const { portfolioId } of [onBase, onSolana]) await atRest(portfolioId)
    const before = await Promise.all(
      [onBase, onSolana].map(async ({ portfolioId }) => (await operationsOf(portfolioId)).length)
    )
    for (const [chainId, symbol, priceUsd] of [
      [8453, "WETH", "3200"],
      [solanaChainId, "JUP", "0.7"]
    ] as const) {
      const move = { assetId: world.asset(chainId, symbol).assetId, priceUsd }
      assert.strictEqual((await world.control("/prices", move)).status, 200)
    }
    await world.control("/clock/advance", { ms: 25 * 3_600_000 })
    for (const [index, { portfolioId }] of [onBase, onSolana].entries()) {
      await eventually(
        "the schedule traded",
        async () =>
          (await operationsOf(portfolioId))
            .slice(0, -before[index]!)
            .find((one: any) => one.kind === "rebalance" && one.outcome === "traded"),
        () => operationsOf(portfolioId)
      )
      await nearHalf(portfolioId)
    }
  })

  it("takes assets out of both by the same wallet", async () => {
    for (const [chainId, { portfolioId }] of [[8453, onBase] as const, [solanaChainId, onSolana] as const]) {
      await data(200, { method: "POST", path: `/v2/portfolios/${portfolioId}/stop` })
      const path = `/v2/portfolios/${portfolioId}/withdraw`
      const key = Keypair.generate()
      const recipientAccountId = chainId === 8453 ? `eip155:8453:${newEvmWallet().address}` : idOf(key)
      const assets = [{ assetId: usdcOf(chainId), amountRaw: "25000000" }]
      const issued = await data(200, {
        method: "POST",
        path: `${path}/signature`,
        body: { recipientAccountId, assets }
      })
      const sent =
        issued.typedData === undefined
          ? {
              message: issued.authorization.message,
              signature: await account.signMessage({ message: { raw: issued.authorization.raw } })
            }
          : { message: issued.typedData.message, signature: await account.signTypedData(issued.typedData) }
      const { operationId } = await data(202, { method: "POST", path, body: sent })
      assert.strictEqual((await ended(portfolioId, operationId)).state, "completed")
    }
  })
})

describe("what is refused", () => {
  it("a signature of somebody else, changed bytes and what is too old are 400, and change nothing", async () => {
    const [owner, stranger] = [Keypair.generate(), Keypair.generate()]
    const strategyId = await newStrategy()
    const { body, issued } = await signed(owner, strategyId)
    const field = "signedSolanaTransaction"
    await refused("/v2/enroll", { ...body, [field]: issued.solanaTransaction }, field)
    const foreign = await signed(stranger, strategyId)
    await refused("/v2/enroll", { ...body, [field]: foreign.body.signedSolanaTransaction }, field)
    const changed = Buffer.from(body.signedSolanaTransaction, "base64")
    changed[changed.length - 1]! ^= 1
    await refused("/v2/enroll", { ...body, [field]: changed.toString("base64") }, field)
    await world.control("/clock/advance", { ms: 200 * 400 })
    await refused("/v2/enroll", body, "flowId")
    assert.lengthOf(await portfoliosOf(idOf(owner)), 0)
    assert.isNull((await rpc("getAccountInfo", [addressOf(issued.walletAccountId as WalletId), {}])).value)
    const again = await signed(owner, strategyId)
    await data(201, { method: "POST", path: "/v2/enroll", body: again.body })
  })
})

describe("a service that dies in stage 2", () => {
  it("goes on with the same bytes: sent and lost, the retry makes the portfolio, once", async () => {
    const owner = Keypair.generate()
    const { body } = await signed(owner, await newStrategy())
    await landing("lost")
    await dieIn(body)
    await landing("ok")
    const answer = await goOn(body)
    assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
    assert.lengthOf(await portfoliosOf(idOf(owner)), 1)
    assert.strictEqual(
      (await data(201, { method: "POST", path: "/v2/enroll", body })).portfolioId,
      answer.body.data.portfolioId
    )
  })

  it("finds what landed after its death, and makes the portfolio, once", async () => {
    const owner = Keypair.generate()
    const { body, issued } = await signed(owner, await newStrategy())
    await landing("late")
    await dieIn(body)
    await landing("ok")
    await eventually("the wallet is there", async () =>
      (await rpc("getAccountInfo", [addressOf(issued.walletAccountId as WalletId), {}])).value === null
        ? undefined
        : true
    )
    const answer = await goOn(body)
    assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
    assert.lengthOf(await portfoliosOf(idOf(owner)), 1)
  })
})
