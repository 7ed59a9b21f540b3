// JsonStream: the objects of a long JSON text, which is read piece by piece: in memory is one object
// at a time, and of an object that is a list one item.
//
//   {"kind": "List", "items": [{…}, {…}], "metadata": {}}
//
// is handed out as begin_items({"kind":"List"}), item({…}), item({…}) and at last
// object({"kind":"List","items":[],"metadata":{}}): only then is it clear what the object is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth {

// A text that comes piece by piece.
class TextSource {
 public:
  virtual ~TextSource() = default;
  // Up to `size` characters, as many as there are now; 0 at the end.
  virtual Result<std::size_t> read(char* into, std::size_t size) = 0;
};

class JsonStream {
 public:
  // Who takes what is found. Texts live as long as the call. False ends the reading.
  class Visitor {
   public:
    virtual ~Visitor() = default;
    // An object begins, on that line.
    virtual void begin_object(std::size_t line) = 0;
    // Its list `items` begins; `so_far` is an object of the members before it.
    virtual bool begin_items(std::string_view so_far) = 0;
    virtual bool item(std::string_view json) = 0;
    // The object ends. Its items, if it has any, are left out.
    virtual bool end_object(std::string_view json) = 0;
  };

  // `begin` is what was read of the text already.
  JsonStream(TextSource& source, std::string begin) : source_(source), text_(std::move(begin)) {}

  // Reads objects until the end of the text, until the visitor ends it, or until something follows
  // that is no object: rest() begins with it then. `---` between objects is passed over. Where the
  // text is not JSON the error says the line and the byte.
  Result<void> read(Visitor& visitor);

  // What was read and not used, and the line on which it begins.
  std::string_view rest() const { return std::string_view(text_).substr(at_); }
  std::size_t line() const { return line_; }

 private:
  Result<bool> at_object();
  // These are false when the visitor has ended the reading.
  Result<bool> read_object(Visitor& visitor);
  Result<bool> read_items(Visitor& visitor);
  template <typename ReadOne>
  Result<bool> read_between(char close, ReadOne read_one);
  // Goes past what `scan`, a function of a JsonScanner, goes past; reads on as far as it needs.
  template <typename Scan>
  Result<std::string_view> take(Scan scan);
  Result<void> skip_space();
  Result<char> next_character();
  Result<void> read_more();
  std::unexpected<Error> wrong(std::string_view problem) const;

  TextSource& source_;
  std::string text_;        // what was read, from somewhere before at_ on
  std::size_t at_ = 0;      // what is before it was used
  std::size_t before_ = 0;  // bytes before text_
  std::size_t line_ = 1;
  bool ended_ = false;
};

}  // namespace berth
