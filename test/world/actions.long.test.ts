/**
 * An owner of a world signs in and swaps over the interface's wire; real chains, the real guard, the stand-in of LI.FI.
 */
import { Effect } from "effect"
import { type Address, createPublicClient, encodeFunctionData, erc20Abi, http, parseAbi } from "viem"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { loadContracts } from "#sandbox/chain/Contracts.ts"
import { contractAddresses } from "#sandbox/chain/contractAddresses.ts"
import { catalogChain } from "#sandbox/assets/catalog.ts"
import {
  actingChain as base,
  type ActingOwner,
  backendQuote as quoteOf,
  callProcedure,
  clientSwap,
  completedSwap,
  quotedRoutes as routesOf,
  signedInOwner,
  submitAction,
  tokenAddress
} from "#test/support/actingOwner.ts"
import { chainBalance, finishedOperation } from "#test/support/journey.ts"
import { startWorld, type World, worldFolder } from "#test/support/World.ts"

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>

beforeAll(async () => {
  folder = await worldFolder()
  world = await startWorld(folder.dataDir, { REBALANCE_COOLDOWN_SECONDS: "0" })
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
})

const rpc = (procedure: string, body: unknown, token?: string) => callProcedure(world, procedure, { body, token })
const signedIn = () => signedInOwner(world)
const addressOf = (symbol: string) => tokenAddress(world, symbol)
const backendQuote = (owner: ActingOwner, changes: Record<string, unknown> = {}) => quoteOf(world, owner, changes)
const submit = (input: unknown, token: string) => submitAction(world, input, token)
const quotedRoutes = (owner: ActingOwner, fromAmount: string) => routesOf(world, owner, fromAmount)
const completed = (owner: ActingOwner, operationId: string) => completedSwap(world, owner, operationId)

describe("an owner who acts", () => {
  it("swaps at a price that the service quotes, exactly once for any number of the same request", async () => {
    const owner = await signedIn()
    const input = { ...backendQuote(owner), requestId: "swap-1", correlationId: "desk-7" }
    const answers = await Promise.all(Array.from({ length: 12 }, () => submit(input, owner.token)))
    for (const answer of answers) assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
    const [first] = answers.map(({ body }) => body.result.data)
    for (const { body } of answers) assert.deepStrictEqual(body.result.data, first)
    assert.strictEqual(first.correlationId, "desk-7")
    assert.match(first.refs.eventId, /^\d+-1$/)
    await completed(owner, first.operationId)
    assert.strictEqual(await chainBalance(world, owner.vault, "USDC"), 9_000_000_000n)
    const weth = Number(await chainBalance(world, owner.vault, "WETH")) / 1e18
    assert.closeTo(weth * 2500, 1_000, 15)
    assert.deepStrictEqual((await submit(input, owner.token)).body.result.data, first, "also when it has ended")
    const other = await submit({ ...input, params: { ...input.params, fromAmount: "2" } }, owner.token)
    assert.deepStrictEqual([other.status, other.body.error.code], [409, "API_008"])

    const next = await submit(backendQuote(owner, { fromAmount: "500000000" }), owner.token)
    assert.strictEqual(next.status, 200, JSON.stringify(next.body))
    await completed(owner, next.body.result.data.operationId)
    assert.strictEqual(await chainBalance(world, owner.vault, "USDC"), 8_500_000_000n)
  })

  it("fails with the reason, and moves nothing, where the account holds too little", async () => {
    const owner = await signedIn()
    const answer = await submit(backendQuote(owner, { fromAmount: "10000000001" }), owner.token)
    assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
    const operation = await finishedOperation(world, owner.portfolioId, answer.body.result.data.operationId)
    assert.strictEqual(operation.state, "failed")
    assert.match(operation.error, /holds 10000000000 of .*moved nothing/u)
    assert.strictEqual(await chainBalance(world, owner.vault, "USDC"), 10_000_000_000n)
  })

  it("swaps over the route that its client quoted, as version 3 of the SDK holds it and as version 4 does", async () => {
    const owner = await signedIn()
    const [route] = await quotedRoutes(owner, "500000000")
    const begun = { status: "PENDING", startedAt: 1 }
    const version3 = { ...route, steps: [{ ...route.steps[0], execution: { ...begun, process: [] } }] }
    const constraints = { executionConstraints: { sameChainOnly: true, expectedVaultChainId: `${base}` } }
    const first = await submit(clientSwap(owner, version3, constraints), owner.token)
    assert.strictEqual(first.status, 200, JSON.stringify(first.body))
    await completed(owner, first.body.result.data.operationId)
    const bought = await chainBalance(world, owner.vault, "WETH")
    assert.isTrue(bought >= BigInt(route.toAmountMin), `${bought} of at least ${route.toAmountMin}`)
    assert.strictEqual(await chainBalance(world, owner.vault, "USDC"), 9_500_000_000n)

    const [again] = await quotedRoutes(owner, "400000000")
    const version4 = { ...again, steps: [{ ...again.steps[0], execution: { ...begun, actions: [] } }] }
    const second = await submit(clientSwap(owner, version4), owner.token)
    assert.strictEqual(second.status, 200, JSON.stringify(second.body))
    await completed(owner, second.body.result.data.operationId)
    assert.strictEqual(await chainBalance(world, owner.vault, "USDC"), 9_100_000_000n)
  })

  it("is promised no more than the market gives: a route that pays less by now fails and moves nothing", async () => {
    const owner = await signedIn()
    const [route] = await quotedRoutes(owner, "500000000")
    const [step] = route.steps
    const dear = (BigInt(route.toAmount) * 101n) / 100n
    const amounts = { toAmount: `${dear}`, toAmountMin: `${dear}` }
    const better = { ...route, ...amounts, steps: [{ ...step, estimate: { ...step.estimate, ...amounts } }] }
    const answer = await submit(clientSwap(owner, better), owner.token)
    assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
    const operation = await finishedOperation(world, owner.portfolioId, answer.body.result.data.operationId)
    assert.strictEqual(operation.state, "failed")
    assert.match(operation.error, /the minimum acceptable is .*quote anew/u)
    assert.strictEqual(await chainBalance(world, owner.vault, "USDC"), 10_000_000_000n)
  })

  it("is the owner alone, and the same portfolio obeys v1 and v2", async () => {
    const [owner, stranger] = [await signedIn(), await signedIn()]
    const foreign = await submit(backendQuote(owner), stranger.token)
    assert.deepStrictEqual([foreign.status, foreign.body.error.code], [404, "API_200"])
    const anonymous = await rpc("v2.portfolio.actions.submit", { input: backendQuote(owner) })
    assert.deepStrictEqual([anonymous.status, anonymous.body.error.code], [401, "API_105"])

    const v1 = (route: string, body: unknown) => world.api("POST", `/v1/portfolio/${owner.portfolioId}/${route}`, body)
    const issued = await v1("resign", {})
    assert.strictEqual(issued.status, 200, JSON.stringify(issued.body))
    const { hash, signatureAction } = issued.body.data
    const overText = await v1("resubmit-signature", {
      signatureAction,
      signature: await owner.signText(signatureAction.message)
    })
    assert.deepStrictEqual([overText.status, overText.body.error.code], [400, "API_400"])
    const renewed = await v1("resubmit-signature", { signatureAction, signature: await owner.sign(hash) })
    assert.strictEqual(renewed.status, 200, JSON.stringify(renewed.body))
    // The next operation on the chain enables the new permission and takes the earlier one off the account.
    const triggered = await v1("rebalance/schedule/trigger", { skipScheduleValidation: true })
    assert.strictEqual(triggered.status, 200, JSON.stringify(triggered.body))
    const run = await finishedOperation(world, owner.portfolioId, triggered.body.data.workflowId)
    assert.strictEqual(run.state, "completed", JSON.stringify(run))
    const swap = await submit(backendQuote(owner, { fromAmount: "100000000" }), owner.token)
    await completed(owner, swap.body.result.data.operationId)
    const { accounts } = (await world.api("GET", `/v2/portfolios/${owner.portfolioId}/policy`)).body.data
    for (const { chain } of accounts) {
      const states = chain.permissions.map(({ state }: any) => state)
      assert.strictEqual(states[0], "active", "the new permission is in force")
      assert.notInclude(states.slice(1), "active", "no earlier one is")
    }
    const status = await world.api("GET", `/v1/portfolio/${owner.portfolioId}/automation/status`)
    assert.deepInclude(status.body.data, { status: "paused", hasAutomation: true })
    assert.strictEqual(status.body.data.details.recentActions[0].workflowId, triggered.body.data.workflowId)
  })

  it("lets an integrator execute what the guard allows and no more; a dry run sends nothing", async () => {
    const owner = await signedIn()
    const first = await submit(backendQuote(owner), owner.token)
    await completed(owner, first.body.result.data.operationId)
    const { guard } = contractAddresses(await Effect.runPromise(loadContracts), catalogChain(base)!)
    const usdc = addressOf("USDC") as Address
    const approve = (amount: bigint) =>
      encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [guard as Address, amount] })
    const allowance = async () => {
      const { rpcUrl } = world.overview.chains.find(({ chainId }) => chainId === base)!
      return createPublicClient({ transport: http(rpcUrl) }).readContract({
        address: usdc,
        abi: erc20Abi,
        functionName: "allowance",
        args: [owner.address as Address, guard as Address]
      })
    }
    const path = `/portfolio/${owner.portfolioId}/execute`
    const body = { chainId: `${base}`, params: { calls: { to: usdc, data: approve(7n) }, nonce: "allow-7" } }

    const dry = await world.api("POST", `${path}?dryRun=true`, body)
    assert.strictEqual(dry.status, 200, JSON.stringify(dry.body))
    const { simulation, transaction } = dry.body.data
    assert.isTrue(simulation.success)
    assert.isAbove(Number(simulation.gasEstimate), 50_000)
    assert.isTrue(
      simulation.trace.some(({ to }: any) => to?.toLowerCase() === usdc.toLowerCase()),
      "the node traces the call of the token"
    )
    assert.deepInclude(transaction, { hash: null, from: owner.address })
    assert.strictEqual(await allowance(), 0n)

    const sent = await world.api("POST", path, body)
    assert.strictEqual(sent.status, 200, JSON.stringify(sent.body))
    const { executionId } = sent.body.data
    const operation = await finishedOperation(world, owner.portfolioId, executionId)
    assert.deepInclude(operation, { kind: "execute", state: "completed" })
    assert.strictEqual(await allowance(), 7n)
    const status = (await world.api("GET", `${path}/status/${executionId}`)).body.data
    assert.strictEqual(status.status, "completed")
    assert.strictEqual(status.transaction.status, "confirmed")
    assert.match(status.transaction.hash, /^0x[0-9a-f]{64}$/)
    assert.isTrue(status.result.success)
    assert.strictEqual((await world.api("POST", path, body)).body.data.executionId, executionId, "once for a nonce")

    const theft = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [guard as Address, 1n] })
    for (const query of ["", "?dryRun=true"]) {
      const refused = await world.api("POST", `${path}${query}`, {
        chainId: `${base}`,
        params: { calls: [{ to: usdc, data: theft }] }
      })
      assert.deepStrictEqual([refused.status, refused.body.error.code], [400, "SIMULATION_FAILED"])
    }
    assert.strictEqual(await chainBalance(world, owner.vault, "USDC"), 9_000_000_000n)
  })

  it("lets an integrator tighten the limits of what an owner has signed, and never widen them", async () => {
    const owner = await signedIn()
    await completed(owner, (await submit(backendQuote(owner), owner.token)).body.result.data.operationId)
    const { guard } = contractAddresses(await Effect.runPromise(loadContracts), catalogChain(base)!)
    const limits = async () => {
      const { accounts } = (await world.api("GET", `/v2/portfolios/${owner.portfolioId}/policy`)).body.data
      const { chain } = accounts.find(({ accountId }: any) => accountId.startsWith(`eip155:${base}:`))
      return [chain.guard.maxTradeLossBps, chain.guard.maxWeeklyLossBps]
    }
    const tighten = (tradeBps: number, budgetBps: number) => {
      const data = encodeFunctionData({
        abi: parseAbi(["function tighten(uint16 tradeBps, uint16 budgetBps)"]),
        functionName: "tighten",
        args: [tradeBps, budgetBps]
      })
      const body = { chainId: `${base}`, params: { calls: [{ to: guard, data }] } }
      return world.api("POST", `/portfolio/${owner.portfolioId}/execute`, body)
    }
    assert.deepStrictEqual(await limits(), [200, 200])

    const tightened = await tighten(90, 120)
    assert.strictEqual(tightened.status, 200, JSON.stringify(tightened.body))
    const { executionId } = tightened.body.data
    const operation = await finishedOperation(world, owner.portfolioId, executionId)
    assert.strictEqual(operation.state, "completed", JSON.stringify(operation))
    assert.deepStrictEqual(await limits(), [90, 120])

    for (const refused of [await tighten(91, 120), await tighten(90, 121)])
      assert.deepStrictEqual([refused.status, refused.body.error.code], [400, "SIMULATION_FAILED"])
    assert.deepStrictEqual(await limits(), [90, 120])
  })
})
