// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {RegistryChanges} from "../../contracts/RegistryChanges.sol";
import {GuardRegistry} from "../../contracts/GuardRegistry.sol";
import {ReferencePrices} from "../../contracts/ReferencePrices.sol";
import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {IAccountOwners} from "../../contracts/GuardPolicy.sol";
import {GuardFixture} from "./GuardFixture.sol";
import {BoundedFeed, TestFeed} from "./OddTokens.sol";

/// @title Where prices come from, and when they are refused
contract GuardPricesTest is GuardFixture {
    uint64 private constant HERE = 31_337;

    function testFuzz_aFeedThatIsOldIsRefused(uint256 age) public {
        age = _within(age, 0, 10 days);
        feeds[1].set(2_500e8, vm.getBlockTimestamp() - age, vm.getBlockTimestamp() - age);
        TradeGuard.Trade[] memory trades = _paying(0, 1, 1_000e6, 10_000);
        if (age <= 1 days) _trade(trades);
        else _refused(trades, ReferencePrices.StalePrice.selector);
    }

    function testFuzz_aFeedThatSaysNonsenseIsRefused(int256 answer) public {
        if (answer > 0 && answer <= int256(uint256(type(uint128).max))) answer = -answer;
        feeds[1].set(answer, vm.getBlockTimestamp(), vm.getBlockTimestamp());
        _refused(_paying(0, 1, 1_000e6, 10_000), ReferencePrices.InvalidPrice.selector);
    }

    /// @dev The limit of the design: what can be sold at the lie is lost, and the guard counts no loss.
    function test_aFeedThatLiesIsBelievedForAllThatCanBeSoldAtTheLie() public {
        feeds[1].set(1e8, vm.getBlockTimestamp(), vm.getBlockTimestamp());
        uint256 held = tokens[1].balanceOf(address(account));
        (,,, uint256 budget,) = guard.policyOf(address(account));
        bytes memory data = abi.encodeWithSignature(
            "swap(address,address,uint256,uint256,address)",
            tokens[1],
            tokens[0],
            type(uint256).max,
            held / 1e12,
            address(guard.RUNNER())
        );
        uint256 worth = _worth();
        _trade(_routed(1, 0, held, data));
        assertEq(tokens[1].balanceOf(address(account)), 0, "kept");
        // A token of 2,500 dollars went for one dollar, which is all of its quarter of the account but 0.04 percent.
        assertLe(_worth() * 10_000, worth * 7_501, "the lie took less than all that could be sold at it");
        (,,, uint256 left,) = guard.policyOf(address(account));
        // The share that was sold, as the guard sees it, is ten dollars of 75,010: two basis points of that.
        assertLe(budget - left, 30, "counted as a loss");
    }

    function test_aPriceFromTheFutureIsRefused() public {
        feeds[1].set(2_500e8, vm.getBlockTimestamp(), vm.getBlockTimestamp() + 1);
        _refused(_paying(0, 1, 1_000e6, 10_000), ReferencePrices.StalePrice.selector);
    }

    function testFuzz_noAnswerOfAFeedMakesTheGuardLoseCount(int256 answer) public {
        feeds[1].set(answer, vm.getBlockTimestamp(), vm.getBlockTimestamp());
        address[] memory listed = _all();
        TradeGuard.Trade[] memory trades = _paying(0, 1, 1_000e6, 10_000);
        TradeGuard.Evidence memory evidence = _evidence(prices[3]);
        (,,, uint256 before,) = guard.policyOf(address(account));
        vm.prank(address(account));
        try guard.trade(listed, trades, evidence, vm.getBlockTimestamp()) {} catch {}
        (,,, uint256 left,) = guard.policyOf(address(account));
        assertLe(left, before, "the budget grew");
    }

    function testFuzz_aRollupsSequencerMustBeUpForAnHour(int256 answer, uint256 startedAt) public {
        startedAt = _within(startedAt, 0, START);
        answer = int256(_within(uint256(answer), 0, 2));
        sequencer.set(answer, startedAt, START);
        TradeGuard.Trade[] memory trades = _paying(0, 1, 1_000e6, 10_000);
        if (answer == 0 && startedAt != 0 && startedAt < START - 1 hours) _trade(trades);
        else _refused(trades, ReferencePrices.SequencerDown.selector);
    }

    function testFuzz_anAttestedPriceIsOneStepFromTheLastHoweverManyDaysAreIdle(uint256 price, uint256 idle) public {
        price = _within(price, 1e18, 300e18);
        idle = _within(idle, 0, 20 days);
        vm.warp(START + idle);
        _refreshFeeds();
        uint256 difference = price > 100e18 ? price - 100e18 : 100e18 - price;
        (bool isTaken, bytes4 failure) = _tryAt(_signed(price, vm.getBlockTimestamp()));
        assertTrue(isTaken == (difference <= 5e18), "step");
        if (!isTaken) assertTrue(failure == ReferencePrices.StepTooLarge.selector, "another error");
    }

    function test_manyPricesInADayMoveItByOneStep() public {
        bool isTaken;
        uint256 ruling = 100e18;
        for (uint256 day = 1; day < 5; ++day) {
            for (uint256 i; i < 24; ++i) {
                vm.warp(START + day * 1 days + i * 1 hours);
                _refreshFeeds();
                (isTaken,) = _tryAt(_signed(ruling * 10_501 / 10_000, vm.getBlockTimestamp()));
                assertTrue(!isTaken, "more than one step");
                (isTaken,) = _tryAt(_signed(ruling * 9_499 / 10_000, vm.getBlockTimestamp()));
                assertTrue(!isTaken, "more than one step down");
                (isTaken,) = _tryAt(_signed(ruling * 10_500 / 10_000, vm.getBlockTimestamp()));
                assertTrue(isTaken, "one step");
                (isTaken,) = _tryAt(_signed(ruling * 9_500 / 10_000, vm.getBlockTimestamp()));
                assertTrue(isTaken, "one step down");
            }
            ruling = ruling * 10_500 / 10_000;
        }
    }

    function test_aFeedsRoundIsWholeAndOfTheAggregatorThatWasRead() public {
        TradeGuard.Trade[] memory trades = _paying(0, 1, 1_000e6, 10_000);
        feeds[1].setRound(2, 1);
        _refused(trades, ReferencePrices.InvalidPrice.selector);
        feeds[1].setRound((1 << 64) + 1, (1 << 64) + 1);
        _refused(trades, ReferencePrices.AggregatorChanged.selector);
        vm.prank(THIEF);
        _registry(guard).readFeeds(address(tokens[1]));
        _trade(trades);
    }

    function testFuzz_whereAnAggregatorStopsFollowingTheMarketNothingIsTraded(int256 answer) public {
        BoundedFeed feed = new BoundedFeed(8, 1_000e8, 10_000e8);
        feed.set(2_500e8, vm.getBlockTimestamp(), vm.getBlockTimestamp());
        address token = address(tokens[1]);
        _change(abi.encodeCall(RegistryChanges.registerToken, (_fedBy(token, address(feed)))));
        answer = int256(_within(uint256(answer), 500e8, 20_000e8));
        if (uint256(answer) % 5 == 0) answer = answer % 2 == 0 ? int256(1_000e8) : int256(10_000e8);
        feed.set(answer, vm.getBlockTimestamp(), vm.getBlockTimestamp());
        prices[1] = uint256(answer);
        TradeGuard.Trade[] memory trades = _paying(0, 1, 1_000e6, 10_000);
        if (answer > 1_000e8 && answer < 10_000e8) _trade(trades);
        else _refused(trades, ReferencePrices.InvalidPrice.selector);
        // Another aggregator has bounds of its own, and is not believed before they are read.
        feed.replace(0, type(int192).max);
        _refused(trades, ReferencePrices.AggregatorChanged.selector);
        _registry(guard).readFeeds(address(tokens[1]));
        _trade(trades);
    }

    /// @dev One bitcoin of a token is worth so many of the coin, and the coin so many dollars; decimals as they come.
    function testFuzz_aPriceInAnotherCurrencyIsMultipliedByThatCurrencysOwn(uint8 first, uint8 second) public {
        (first, second) = (uint8(_within(first, 6, 18)), uint8(_within(second, 6, 18)));
        (TestFeed ratio, TestFeed coin) = (new TestFeed(first), new TestFeed(second));
        uint256 now_ = vm.getBlockTimestamp();
        ratio.set(int256(10 ** uint256(first) * 5 / 4), now_, now_);
        coin.set(int256(10 ** uint256(second) * 2_000), now_, now_);
        address token = address(tokens[1]);
        GuardRegistry.TokenEntry memory entry = _fedBy(token, address(ratio));
        (entry.second, entry.secondMaxAge) = (address(coin), 2 days);
        _change(abi.encodeCall(RegistryChanges.registerToken, (entry)));
        now_ = vm.getBlockTimestamp();
        ratio.set(int256(10 ** uint256(first) * 5 / 4), now_, now_);
        coin.set(int256(10 ** uint256(second) * 2_000), now_, now_);
        TradeGuard.Trade[] memory trades = _paying(0, 1, 1_000e6, 9_801);
        _trade(trades);
        trades = _paying(0, 1, 1_000e6, 9_799);
        _refused(trades, TradeGuard.UnfairTrade.selector);
        coin.set(int256(10 ** uint256(second) * 2_000), now_, now_ - 2 days - 1);
        _refused(_paying(0, 1, 1_000e6, 10_000), ReferencePrices.StalePrice.selector);
        coin.set(0, now_, now_);
        _refused(_paying(0, 1, 1_000e6, 10_000), ReferencePrices.InvalidPrice.selector);
        coin.set(int256(10 ** uint256(second) * 2_000), now_, now_);
        coin.setRound(1 << 64, 1 << 64);
        _refused(_paying(0, 1, 1_000e6, 10_000), ReferencePrices.AggregatorChanged.selector);
        _registry(guard).readFeeds(token);
        _trade(_paying(0, 1, 1_000e6, 10_000));
    }

    /// @dev Two days pass.
    function _change(bytes memory change) private {
        vm.prank(ADMINISTRATOR);
        _registry(guard).schedule(change);
        vm.warp(vm.getBlockTimestamp() + 2 days);
        _refreshFeeds();
        vm.prank(ADMINISTRATOR);
        (bool succeeded,) = address(guard).call(change);
        assertTrue(succeeded, "not changed");
    }

    function test_nobodyButTheAttestorAttestsAndOnlyForThisTokenTimeAndChain() public {
        bytes4 failure;
        ReferencePrices.SignedPrice memory price = _signed(100e18, vm.getBlockTimestamp() - 301);
        (, failure) = _tryAt(price);
        assertTrue(failure == ReferencePrices.StalePrice.selector, "too old");
        (, failure) = _tryAt(_signed(100e18, vm.getBlockTimestamp() + 1));
        assertTrue(failure == ReferencePrices.StalePrice.selector, "from the future");
        price = _signed(100e18, vm.getBlockTimestamp());
        price.price = 101e18;
        (, failure) = _tryAt(price);
        assertTrue(failure == ReferencePrices.NotAttested.selector, "another price");
        price = _signed(100e18, vm.getBlockTimestamp());
        bytes32 digest = guard.priceDigest(address(tokens[3]), 100e18, uint40(vm.getBlockTimestamp()));
        price.signature = _signature(OWNER_KEY, digest);
        (, failure) = _tryAt(price);
        assertTrue(failure == ReferencePrices.NotAttested.selector, "another key");
        price = _signed(100e18, vm.getBlockTimestamp());
        vm.chainId(8_453);
        (, failure) = _tryAt(price);
        assertTrue(failure == ReferencePrices.NotAttested.selector, "another chain");
        vm.chainId(HERE);
        vm.prank(GUARDIAN);
        _registry(guard).removeAttestor();
        (, failure) = _tryAt(_signed(100e18, vm.getBlockTimestamp()));
        assertTrue(failure == ReferencePrices.NotAttested.selector, "no attestor");
    }

    function testFuzz_aWordForAnotherTokenGuardOrChainIsNone(uint256 which, uint256 price, uint256 chain) public {
        price = _within(price, 95e18, 105e18);
        uint40 time = uint40(vm.getBlockTimestamp());
        bytes32 digest;
        which = _within(which, 0, 2);
        if (which == 0) {
            digest = guard.priceDigest(address(tokens[_within(chain, 0, 2)]), uint128(price), time);
        } else if (which == 1) {
            TradeGuard other = new TradeGuard(ADMINISTRATOR, GUARDIAN, IAccountOwners(address(owners)));
            digest = other.priceDigest(address(tokens[3]), uint128(price), time);
        } else {
            chain = _within(chain, 1, type(uint64).max);
            if (chain == HERE) chain += 1;
            vm.chainId(uint64(chain));
            digest = guard.priceDigest(address(tokens[3]), uint128(price), time);
            vm.chainId(HERE);
        }
        (bool isTaken, bytes4 failure) =
            _tryAt(ReferencePrices.SignedPrice(uint128(price), time, _signature(ATTESTOR_KEY, digest)));
        assertTrue(!isTaken && failure == ReferencePrices.NotAttested.selector, "replayed");
    }

    function testFuzz_aWordIsGoodAgainOnlyWhileItIsYoungAndWithinItsDaysStep(uint256 age, uint256 price) public {
        age = _within(age, 0, 3 days);
        price = _within(price, 80e18, 120e18);
        ReferencePrices.SignedPrice memory word = _signed(price, START);
        vm.warp(START + age);
        _refreshFeeds();
        (bool isTaken,) = _tryAt(word);
        uint256 difference = price > 100e18 ? price - 100e18 : 100e18 - price;
        assertTrue(isTaken == (age <= 5 minutes && difference <= 5e18), "replayed later");
    }

    function test_aTokenWithoutAFeedNeedsAWord() public {
        address[] memory listed = _all();
        TradeGuard.Trade[] memory trades = _paying(0, 3, 1_000e6, 10_000);
        TradeGuard.Evidence memory none;
        vm.prank(address(account));
        vm.expectPartialRevert(ReferencePrices.PriceMissing.selector);
        guard.trade(listed, trades, none, vm.getBlockTimestamp());
    }

    /// @dev What the two keys together get in a day: the step in price on all that is traded at attested prices.
    function test_theAttestorsAndTheAgentsThiefTakeAStepOfOneAccountWorthAndTheBudget() public {
        uint256 worth = _worth();
        // The attestor lies by the whole step, in the direction of each trade.
        for (uint256 turns; turns < 40; ++turns) {
            try this.lie(turns % 2 == 0) {} catch {
                break;
            }
        }
        assertLe(worth * (10_000 - 200 - 500), _worth() * 10_000, "lost more than step and budget");
        assertLe(_worth() * 10_000, worth * (10_000 - 400), "the attack took nothing worth a test");
    }

    function lie(bool isSale) external {
        (uint256 declared, uint256 sell, uint256 buy) = isSale ? (95e18, 3, 0) : (105e18, 0, 3);
        uint256 amount = isSale ? 200 ether : 19_000e6;
        uint256 pay = isSale ? amount * declared / 1e30 : amount * 1e30 / declared;
        bytes memory data = abi.encodeWithSignature(
            "swap(address,address,uint256,uint256,address)",
            tokens[sell],
            tokens[buy],
            type(uint256).max,
            pay * 99 / 100,
            address(guard.RUNNER())
        );
        TradeGuard.Evidence memory evidence = _evidence(declared);
        address[] memory listed = _all();
        TradeGuard.Trade[] memory trades = _routed(sell, buy, amount, data);
        vm.prank(address(account));
        guard.trade(listed, trades, evidence, vm.getBlockTimestamp());
    }

    function _tryAt(ReferencePrices.SignedPrice memory price) private returns (bool, bytes4) {
        TradeGuard.Evidence memory evidence;
        evidence.prices = new ReferencePrices.SignedPrice[](1);
        evidence.prices[0] = price;
        address[] memory listed = _all();
        vm.prank(address(account));
        try guard.trade(listed, new TradeGuard.Trade[](0), evidence, vm.getBlockTimestamp()) {
            return (true, bytes4(0));
        } catch (bytes memory answer) {
            return (false, bytes4(answer));
        }
    }
}
