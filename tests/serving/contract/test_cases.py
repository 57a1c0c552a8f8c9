from serving.contract import cases


def test_case_names_are_unique_sentences():
  names = [case.__name__ for case in cases.CASES]
  assert len(set(names)) == len(names)
  assert all("_" in name for name in names)


def test_case_that_does_not_hold_fails():
  class Wrong:
    model = "captioner"
    has_rest = True

    def rest(self, path, body=None):
      return 200, {"error": "none"}

  try:
    cases.rest_errors_have_their_codes(Wrong())
  except AssertionError:
    return
  raise AssertionError("a server that answers everything passed")
