// Short names for tests: GoogleMock's matchers, durations, and everything else in berth::testing.
// A test that includes this file writes ElementsAre(...), World and 3s in the namespace of any room.
#pragma once

#include <gmock/gmock.h>

#include <chrono>

namespace berth::testing {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::EndsWith;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::Optional;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using namespace std::chrono_literals;

}  // namespace berth::testing

namespace berth {
using namespace testing;
}
