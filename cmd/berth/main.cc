#include <iostream>
#include <string>
#include <vector>

#include "app/cli.h"

int main(int argc, char** argv) {
  if (argc < 1) return 2;
  return berth::app::run(argv[0], std::vector<std::string>(argv + 1, argv + argc), std::cout,
                         std::cerr);
}
