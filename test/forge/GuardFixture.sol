// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {RegistryChanges} from "../../contracts/RegistryChanges.sol";
import {GuardRegistry} from "../../contracts/GuardRegistry.sol";
import {IAccountOwners} from "../../contracts/GuardPolicy.sol";
import {ReferencePrices} from "../../contracts/ReferencePrices.sol";
import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {Cheats} from "./Cheats.sol";
import {OddToken, TestFeed} from "./OddTokens.sol";
import {TestAccount, TestOwners} from "./TestAccount.sol";
import {TestMessenger, TestSpokePool} from "./Bridges.sol";
import {AnyPriceRoute, AnyPriceRouter} from "./Venues.sol";

/// @title A sealed guard with four tokens, two venues, two bridges and one account
/// @notice Feeds: USD 1.00 with 6 decimals, ETH 2,500 with 18, BTC 50,000 with 8. Attested: STOCK 100 with 18.
abstract contract GuardFixture is Cheats {
    address internal constant ADMINISTRATOR = address(0xAD);
    address internal constant GUARDIAN = address(0x60);
    uint256 internal constant ALL_OF_THE_BUDGET = 2e7;
    address internal constant THIEF = address(0x7417EF);
    uint256 internal constant ATTESTOR_KEY = 0xA77;
    uint256 internal constant OWNER_KEY = 0x0E4;
    bytes4 internal constant PERMISSION = 0x11223344;
    uint256 internal constant START = 1_800_000_000;
    bytes32 internal constant REMOTE = bytes32(uint256(0xF00D));
    uint256 internal constant SOLANA = 1_151_111_081_099_710;
    bytes32 internal constant SOLANA_MINT = keccak256("a mint");

    TradeGuard internal guard;
    TestOwners internal owners;
    TestAccount internal account;
    OddToken[4] internal tokens;
    TestFeed[3] internal feeds;
    TestFeed internal sequencer;
    AnyPriceRoute internal route;
    AnyPriceRouter internal router;
    TestSpokePool internal pool;
    TestMessenger internal messenger;

    uint256[4] internal prices = [uint256(1e8), 2_500e8, 50_000e8, 100e18];
    uint256[4] internal units = [uint256(1e6), 1e18, 1e8, 1e18];

    function setUp() public virtual {
        vm.warp(START);
        owners = new TestOwners();
        account = new TestAccount();
        owners.set(address(account), vm.addr(OWNER_KEY));
        guard = new TradeGuard(ADMINISTRATOR, GUARDIAN, IAccountOwners(address(owners)));
        route = new AnyPriceRoute();
        router = new AnyPriceRouter();
        pool = new TestSpokePool();
        messenger = new TestMessenger();
        sequencer = new TestFeed(0);
        sequencer.set(0, START - 2 days, START);
        _deployTokens();
        _register();
        account.install(guard, _permission(PERMISSION, START - 1, START + 90 days, 0, 0));
    }

    /// @dev How far the market may be from a token's price: as near as is registered, where markets stand still.
    function _band(uint256) internal pure virtual returns (uint8) {
        return 1;
    }

    /// @dev Tokens in ascending order of address, as the guard wants them.
    function _deployTokens() private {
        uint8[4] memory decimals = [6, 18, 8, 18];
        address previous;
        for (uint256 i; i < 4; ++i) {
            do tokens[i] = new OddToken(decimals[i]); while (address(tokens[i]) <= previous);
            previous = address(tokens[i]);
            tokens[i].mint(address(account), 25_000e8 * units[i] / (i == 3 ? 100e8 : prices[i]));
            vm.prank(address(account));
            tokens[i].approve(address(guard), type(uint256).max);
        }
        for (uint256 i; i < 3; ++i) feeds[i] = new TestFeed(8);
        _refreshFeeds();
    }

    function _register() private {
        vm.prank(ADMINISTRATOR);
        _registry(guard).setKeys(ADMINISTRATOR, GUARDIAN, vm.addr(ATTESTOR_KEY));
        for (uint256 i; i < 3; ++i) {
            vm.prank(ADMINISTRATOR);
            _registry(guard).registerToken(_fed(i, _band(i)));
        }
        vm.prank(ADMINISTRATOR);
        _registry(guard).registerToken(_attested(3, _band(3)));
        vm.prank(ADMINISTRATOR);
        _registry(guard).registerVenue(_calledWithData(address(route)));
        vm.prank(ADMINISTRATOR);
        _registry(guard).registerVenue(_v2Router(address(router)));
        vm.prank(ADMINISTRATOR);
        _registry(guard).registerBridge(_spoke(0));
        vm.prank(ADMINISTRATOR);
        _registry(guard).registerBridge(_circle(0));
        vm.prank(ADMINISTRATOR);
        _registry(guard).registerBridge(_circleToSolana(0));
        vm.prank(ADMINISTRATOR);
        _registry(guard).setSequencer(address(sequencer));
        vm.prank(ADMINISTRATOR);
        _registry(guard).seal();
    }

    /// @dev A token with its feed; withdrawals may be paid in the first one.
    function _fed(uint256 token, uint8 bandBps) internal view returns (GuardRegistry.TokenEntry memory entry) {
        entry = _fedBy(address(tokens[token]), address(feeds[token]));
        entry.bandBps = bandBps;
        entry.isPayout = token == 0;
    }

    function _fedBy(address token, address feed) internal pure returns (GuardRegistry.TokenEntry memory entry) {
        (entry.token, entry.feed, entry.maxAge, entry.bandBps) = (token, feed, 1 days, 1);
    }

    function _attested(uint256 token, uint8 bandBps) internal view returns (GuardRegistry.TokenEntry memory entry) {
        (entry.token, entry.maxAge, entry.bandBps) = (address(tokens[token]), 5 minutes, bandBps);
        (entry.maxStepBps, entry.firstPrice) = (500, 100e18);
    }

    function _calledWithData(address venue) internal pure returns (GuardRegistry.VenueEntry memory) {
        return GuardRegistry.VenueEntry(venue, venue, GuardRegistry.VenueKind.CALLDATA, 0, 0);
    }

    function _v2Router(address venue) internal pure returns (GuardRegistry.VenueEntry memory) {
        return GuardRegistry.VenueEntry(venue, venue, GuardRegistry.VenueKind.V2_ROUTER, 0, 0);
    }

    /// @dev Another token of 18 decimals on another chain.
    function _spoke(uint256 token) internal view returns (GuardRegistry.BridgeEntry memory) {
        return GuardRegistry.BridgeEntry(
            address(pool),
            GuardRegistry.Protocol.ACROSS,
            address(tokens[token]),
            42_161,
            REMOTE,
            18,
            true,
            42_161,
            4 hours
        );
    }

    function _circle(uint256 token) internal view returns (GuardRegistry.BridgeEntry memory) {
        return GuardRegistry.BridgeEntry(
            address(messenger), GuardRegistry.Protocol.CCTP, address(tokens[token]), 42_161, REMOTE, 6, true, 3, 0
        );
    }

    function _circleToSolana(uint256 token) internal view returns (GuardRegistry.BridgeEntry memory entry) {
        entry = _circle(token);
        (entry.chainId, entry.remoteToken, entry.isEvm, entry.destination) = (SOLANA, SOLANA_MINT, false, 5);
    }

    function _feeding(uint256 token, uint8 bandBps) internal view returns (bytes memory) {
        return abi.encodeCall(RegistryChanges.registerToken, (_fed(token, bandBps)));
    }

    /// @dev The guard by the functions that change its registry.
    function _registry(TradeGuard of_) internal pure returns (RegistryChanges) {
        return RegistryChanges(address(of_));
    }

    function _refreshFeeds() internal {
        for (uint256 i; i < 3; ++i) feeds[i].set(int256(prices[i]), vm.getBlockTimestamp(), vm.getBlockTimestamp());
    }

    function _permission(bytes4 id, uint256 issuedAt, uint256 validUntil, uint16 tradeBps, uint16 budgetBps)
        internal
        pure
        returns (bytes memory)
    {
        return abi.encodePacked(bytes32(id), uint40(issuedAt), uint40(validUntil), tradeBps, budgetBps, uint8(0));
    }

    /// @dev A permission with default limits and more that the owner signed.
    function _permissionWith(bytes4 id, uint256 issuedAt, uint8 signed, bytes memory rest)
        internal
        pure
        returns (bytes memory)
    {
        return abi.encodePacked(
            bytes32(id), uint40(issuedAt), uint40(issuedAt + 90 days), uint16(0), uint16(0), signed, rest
        );
    }

    /// @dev Raw units of one token that are worth as much as raw units of another, by the true prices.
    function _fair(uint256 from, uint256 to, uint256 amount) internal view returns (uint256) {
        return amount * _price8(from) * units[to] / (units[from] * _price8(to));
    }

    function _price8(uint256 token) internal view returns (uint256) {
        return token == 3 ? prices[3] / 1e10 : prices[token];
    }

    /// @dev What the account is worth by the true prices, in US dollars of 8 decimals; nothing of it through the guard.
    function _worth() internal view returns (uint256 worth) {
        for (uint256 i; i < 4; ++i) worth += tokens[i].balanceOf(address(account)) * _price8(i) / units[i];
    }

    function _all() internal view returns (address[] memory listed) {
        listed = new address[](4);
        for (uint256 i; i < 4; ++i) listed[i] = address(tokens[i]);
    }

    function _signed(uint256 price, uint256 time) internal view returns (ReferencePrices.SignedPrice memory) {
        bytes32 digest = guard.priceDigest(address(tokens[3]), uint128(price), uint40(time));
        return ReferencePrices.SignedPrice(uint128(price), uint40(time), _signature(ATTESTOR_KEY, digest));
    }

    function _evidence(uint256 stockPrice) internal view returns (TradeGuard.Evidence memory evidence) {
        evidence.prices = new ReferencePrices.SignedPrice[](1);
        evidence.prices[0] = _signed(stockPrice, vm.getBlockTimestamp());
    }

    function _routed(uint256 sell, uint256 buy, uint256 amount, bytes memory data)
        internal
        view
        returns (TradeGuard.Trade[] memory trades)
    {
        trades = new TradeGuard.Trade[](1);
        trades[0] = TradeGuard.Trade(address(route), uint8(sell), uint8(buy), uint128(amount), 0, data);
    }

    /// @dev A route that sells everything and pays a share of the fair amount, in hundredths of a percent.
    function _paying(uint256 sell, uint256 buy, uint256 amount, uint256 bps)
        internal
        view
        returns (TradeGuard.Trade[] memory)
    {
        uint256 pay = _fair(sell, buy, amount) * bps / 10_000;
        address runner = address(guard.RUNNER());
        bytes memory data =
            abi.encodeCall(AnyPriceRoute.swap, (tokens[sell], tokens[buy], type(uint256).max, pay, runner));
        return _routed(sell, buy, amount, data);
    }

    function _trade(TradeGuard.Trade[] memory trades) internal {
        address[] memory listed = _all();
        TradeGuard.Evidence memory evidence = _evidence(prices[3]);
        vm.prank(address(account));
        guard.trade(listed, trades, evidence, vm.getBlockTimestamp());
    }

    /// @dev Only with an error that begins with the selector.
    function _refused(TradeGuard.Trade[] memory trades, bytes4 selector) internal {
        address[] memory listed = _all();
        TradeGuard.Evidence memory evidence = _evidence(prices[3]);
        vm.prank(address(account));
        vm.expectPartialRevert(selector);
        guard.trade(listed, trades, evidence, vm.getBlockTimestamp());
    }
}
